//go:build !linux

package term

func onSuspend(func(stop func())) (release func()) { return func() {} }
