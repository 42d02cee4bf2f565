package latchkey

import (
	"strings"
	"unicode"
)

// keyVerdict is what is known of a typed key without a question.
type keyVerdict string

const (
	keyOK       keyVerdict = "ok"
	keyMistyped keyVerdict = "mistyped"
	// The key was perhaps issued elsewhere, and is sent as it is.
	keyForeign keyVerdict = "foreign"
)

// Crockford's base 32: digits and letters without I, L, O and U.
const keySymbols = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

const (
	symbolsOfKey  = 25
	checkedOfKey  = 23
	longestPrefix = 8
	checkModulus  = 1021
)

var lookAlikes = strings.NewReplacer("O", "0", "I", "1", "L", "1")

// readKey reads a key that a person typed or pasted. A wrong checksum is mistyped only if a separator follows the prefix: a UUID, or
// 32 digits of another shop, are foreign.
func readKey(text string) (string, keyVerdict) {
	typed := strings.TrimSpace(text)
	parts := strings.FieldsFunc(typed, func(r rune) bool { return unicode.IsSpace(r) || unicode.Is(unicode.Pd, r) })
	joined := strings.Join(parts, "")
	length := len(joined) - symbolsOfKey
	if length < 0 || length > longestPrefix || !isAlphanumeric(joined) {
		return typed, keyForeign
	}
	prefix, symbols := joined[:length], lookAlikes.Replace(strings.ToUpper(joined[length:]))
	values := readSymbols(symbols)
	if values == nil {
		return typed, keyForeign
	}
	isRight := hasRightChecksum(values)
	if !isRight && (prefix == "" || parts[0] != prefix) {
		return typed, keyForeign
	}
	if !isRight {
		return typed, keyMistyped
	}
	return formatKey(prefix, symbols), keyOK
}

func isAlphanumeric(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool {
		return r > unicode.MaxASCII || (!unicode.IsLetter(r) && !unicode.IsDigit(r))
	}) < 0
}

// readSymbols returns nil if a character is no symbol.
func readSymbols(symbols string) []int {
	values := make([]int, 0, symbolsOfKey)
	for _, symbol := range symbols {
		value := strings.IndexRune(keySymbols, symbol)
		if value < 0 {
			return nil
		}
		values = append(values, value)
	}
	return values
}

func hasRightChecksum(values []int) bool {
	remainder := 0
	for _, value := range values[:checkedOfKey] {
		remainder = (remainder*len(keySymbols) + value) % checkModulus
	}
	return values[checkedOfKey]*len(keySymbols)+values[checkedOfKey+1] == remainder
}

func formatKey(prefix, symbols string) string {
	groups := []string{}
	if prefix != "" {
		groups = append(groups, strings.ToUpper(prefix))
	}
	for start := 0; start < symbolsOfKey; start += 5 {
		groups = append(groups, symbols[start:start+5])
	}
	return strings.Join(groups, "-")
}
