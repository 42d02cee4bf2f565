package latchkey

import (
	"crypto/ed25519"
	"math/big"
	"strings"
)

// PublicKey is an Ed25519 key of the service (RFC 8037), as its /.well-known/jwks.json lists it.
type PublicKey struct {
	Kty string `json:"kty"`
	Crv string `json:"crv"`
	X   string `json:"x"` // 32 bytes in base64url
	Kid string `json:"kid"`
}

func (k PublicKey) isValid() bool {
	return k.Kty == "OKP" && k.Crv == "Ed25519" && len(decodeBase64url(k.X)) == ed25519.PublicKeySize
}

// readPublicKeys returns the Ed25519 keys of a list, and ignores its other members.
func readPublicKeys(list []any) []PublicKey {
	keys := []PublicKey{}
	for _, each := range list {
		fields := toObject(each)
		key := PublicKey{Kty: fields.text("kty"), Crv: fields.text("crv"), X: fields.text("x"), Kid: fields.text("kid")}
		if fields.hasText("kid") && key.isValid() {
			keys = append(keys, key)
		}
	}
	return keys
}

// claims are the statements of an entitlement that a client reads. Times are seconds since 1970.
type claims struct {
	issuer, audience, machine string
	issuedAt, notBefore, end  int64
	activationID, tier, nonce string
	features                  []string
	licenseEnd                *int64 // nil: the license is perpetual
	isTrial                   bool
}

// readClaims returns nil unless iat, nbf and exp are integers.
func readClaims(fields object) *claims {
	issuedAt, hasIssuedAt := fields.integer("iat")
	notBefore, hasNotBefore := fields.integer("nbf")
	end, hasEnd := fields.integer("exp")
	if !hasIssuedAt || !hasNotBefore || !hasEnd {
		return nil
	}
	read := &claims{
		issuer: fields.text("iss"), audience: fields.text("aud"), machine: fields.text("machine"),
		issuedAt: issuedAt, notBefore: notBefore, end: end,
		activationID: fields.text("activation_id"), tier: fields.text("tier"), nonce: fields.text("nonce"),
		isTrial: fields.isTrue("trial"),
	}
	for _, feature := range fields.list("features") {
		if text, isText := feature.(string); isText {
			read.features = append(read.features, text)
		}
	}
	if licenseEnd, hasLicenseEnd := fields.integer("license_expires_at"); hasLicenseEnd {
		read.licenseEnd = &licenseEnd
	}
	return read
}

// A clock may be this much behind that of the service.
const earlyToleranceSeconds = 300

// timeProblem returns what is wrong with the times of a genuine entitlement: "early", "late", or nothing.
func (c *claims) timeProblem(nowMs int64) string {
	if nowMs < (c.notBefore-earlyToleranceSeconds)*1000 {
		return "early"
	}
	if nowMs >= c.end*1000 {
		return "late"
	}
	return ""
}

// trust is what an entitlement must fit. Of two keys with the same id, the first one counts.
type trust struct {
	keys      []PublicKey
	issuer    string
	products  []string
	machineID string
}

func (t trust) findKey(kid string) *PublicKey {
	for index := range t.keys {
		if t.keys[index].Kid == kid {
			return &t.keys[index]
		}
	}
	return nil
}

// verify returns the verdict on everything but times and nonce, so that it stays true; and the claims, if it is "ok".
func (t trust) verify(token string) (string, *claims) {
	header, read, signature := splitToken(token)
	if read == nil {
		return "malformed", nil
	}
	if header.text("alg") != "EdDSA" {
		return "algorithm", nil
	}
	key := t.findKey(header.text("kid"))
	if key == nil {
		return "unknown_key", nil
	}
	signed := token[:strings.LastIndexByte(token, '.')]
	if !isSigned(decodeBase64url(key.X), []byte(signed), signature) {
		return "signature", nil
	}
	if read.issuer != t.issuer {
		return "issuer", nil
	}
	if read.audience == "" || !contains(t.products, read.audience) {
		return "audience", nil
	}
	if read.machine != hashText(t.machineID) {
		return "machine", nil
	}
	return "ok", read
}

// splitToken returns no claims if the token is malformed.
func splitToken(token string) (header object, read *claims, signature []byte) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil, nil, nil
	}
	header = toObject(parseJSON(decodeBase64url(parts[0])))
	signature = decodeBase64url(parts[2])
	_, isCritical := header["crit"]
	if header.text("typ") != "entitlement+jwt" || !header.hasText("kid") || isCritical || signature == nil {
		return nil, nil, nil
	}
	return header, readClaims(toObject(parseJSON(decodeBase64url(parts[1])))), signature
}

// isSigned verifies a signature. crypto/ed25519 checks that S is below the order, but accepts keys of small order.
func isSigned(publicKey, message, signature []byte) bool {
	if len(publicKey) != ed25519.PublicKeySize || len(signature) != ed25519.SignatureSize {
		return false
	}
	return isSafe(publicKey) && ed25519.Verify(publicKey, message, signature)
}

var (
	one = big.NewInt(1)
	// The prime of the field (RFC 8032, section 5.1).
	prime = new(big.Int).Sub(new(big.Int).Lsh(one, 255), big.NewInt(19))
	// The y-coordinate of a point of order eight; the other one is its negative.
	orderEight, _ = new(big.Int).SetString("7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd84d3d706a17c7", 16)
	// The y-coordinates of all points whose order divides eight: a signature of such a key would fit every message.
	smallOrders = []*big.Int{new(big.Int), one, new(big.Int).Sub(prime, one), orderEight, new(big.Int).Sub(prime, orderEight)}
)

// isSafe returns whether a public key is encoded canonically, and of no small order.
func isSafe(publicKey []byte) bool {
	reversed := make([]byte, len(publicKey))
	for index, each := range publicKey {
		reversed[len(publicKey)-1-index] = each
	}
	reversed[0] &= 0x7f
	y := new(big.Int).SetBytes(reversed)
	for _, small := range smallOrders {
		if y.Cmp(small) == 0 {
			return false
		}
	}
	return y.Cmp(prime) < 0
}

func contains(list []string, text string) bool {
	for _, each := range list {
		if each == text {
			return true
		}
	}
	return false
}
