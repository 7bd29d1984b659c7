package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"hash"
	"os"
	"strings"
	"time"
)

const lifetime = 15 * time.Minute

var (
	secret    = []byte(os.Getenv("SECRET_TOKEN"))
	hashes    = map[string]func() hash.Hash{"HS256": sha256.New, "HS384": sha512.New384, "HS512": sha512.New}
	base64url = base64.RawURLEncoding
)

func issueToken() string {
	claims, _ := json.Marshal(map[string]int64{"exp": time.Now().Add(lifetime).Unix()})
	signed := base64url.EncodeToString([]byte(`{"alg":"HS256","typ":"JWT"}`)) + "." + base64url.EncodeToString(claims)
	return signed + "." + base64url.EncodeToString(sign(sha256.New, signed))
}

func isValid(token string) bool {
	var header struct{ Alg string }
	var claims struct{ Exp float64 }
	parts := strings.Split(token, ".")
	if len(parts) != 3 || !decode(parts[0], &header) || !decode(parts[1], &claims) {
		return false
	}
	algorithm := hashes[header.Alg]
	signature, err := base64url.DecodeString(parts[2])
	return err == nil && algorithm != nil &&
		hmac.Equal(signature, sign(algorithm, token[:strings.LastIndexByte(token, '.')])) &&
		claims.Exp > float64(time.Now().Unix())
}

func sign(algorithm func() hash.Hash, text string) []byte {
	mac := hmac.New(algorithm, secret)
	mac.Write([]byte(text))
	return mac.Sum(nil)
}

func decode(part string, into any) bool {
	text, err := base64url.DecodeString(part)
	return err == nil && json.Unmarshal(text, into) == nil
}
