// Package request makes the HTTP requests of a wait. It judges nothing.
//
// An attempt goes through these layers, each a file with one type, from the outside in:
//
//	Session      starts an operation, and follows the URLs that answers name
//	pages        reads the further pages of a list
//	renewed      renews header fields
//	conditional  has an answer confirmed that has not changed (304)
//	client       follows redirects, and keeps credentials where they belong
//
// client.send makes a single request. All layers take a call and return an answer.
package request
