package latchkey

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"strconv"
	"time"
	"unicode/utf8"
)

// object is a JSON object whose fields were not examined yet.
type object map[string]any

// Integers beyond are not exact in every language.
const maxSafeInteger = 1<<53 - 1

// parseJSON returns nil for what is not JSON in UTF-8.
func parseJSON(data []byte) any {
	if !utf8.Valid(data) {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil {
		return nil
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil
	}
	return value
}

// toObject returns nil, from which all fields are absent, for another value.
func toObject(value any) object {
	fields, _ := value.(map[string]any)
	return fields
}

func (o object) text(name string) string {
	text, _ := o[name].(string)
	return text
}

func (o object) hasText(name string) bool {
	_, isText := o[name].(string)
	return isText
}

func (o object) isTrue(name string) bool {
	value, _ := o[name].(bool)
	return value
}

func (o object) list(name string) []any {
	list, _ := o[name].([]any)
	return list
}

func (o object) integer(name string) (int64, bool) {
	number, _ := o[name].(json.Number)
	value, err := strconv.ParseInt(number.String(), 10, 64)
	if err != nil || value > maxSafeInteger || value < -maxSafeInteger {
		return 0, false
	}
	return value, true
}

func encodeBase64url(data []byte) string {
	return base64.RawURLEncoding.EncodeToString(data)
}

// decodeBase64url returns nil unless the text is what encoding the bytes results in, so that no two texts have the same bytes.
func decodeBase64url(text string) []byte {
	data, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(data) == 0 || encodeBase64url(data) != text {
		return nil
	}
	return data
}

// hashText returns the base64url SHA-256 of a text.
func hashText(text string) string {
	digest := sha256.Sum256([]byte(text))
	return encodeBase64url(digest[:])
}

// The years 1 to 9999, in milliseconds since 1970.
const firstMs, lastMs = -62_135_596_800_000, 253_402_300_799_999

// toTime returns a time that RFC 3339 can write.
func toTime(ms int64) time.Time {
	if ms < firstMs {
		ms = firstMs
	}
	if ms > lastMs {
		ms = lastMs
	}
	return time.UnixMilli(ms).UTC()
}

func formatTime(ms int64) string {
	return toTime(ms).Format("2006-01-02T15:04:05.000Z")
}
