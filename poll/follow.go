package poll

// A Follow says where to look after the first answer. The zero value is auto.
type Follow struct{}
