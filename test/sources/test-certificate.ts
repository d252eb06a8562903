/**
 * A key pair for test servers on loopback, as example.com, *.example.com, localhost and 127.0.0.1. It is public and trusted by nothing:
 * a test hands it to a client as its only certificate authority.
 */
export const testCertificate = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgZ99t8xfI/TkYBEdk
515UGNsoIhfsdls17xvSyz952TuhRANCAASHVMHPe9oLLjZyf/HMhp30/5JJEaiv
KO2tvx308t7pCp5JQWyIVX1gnlNhYbL6VtGacHGuJP8/odbrxPWj9QZE
-----END PRIVATE KEY-----
`,
  cert: `-----BEGIN CERTIFICATE-----
MIIB1TCCAXugAwIBAgIUMqJGhUdM6ujEdLI/gRJSz1WSEjowCgYIKoZIzj0EAwIw
IjEgMB4GA1UEAwwXVGVzdCBzZXJ2ZXIgb24gbG9vcGJhY2swIBcNMjYxMTIyMTYy
MzI4WhgPMjEyNjEwMjkxNjIzMjhaMCIxIDAeBgNVBAMMF1Rlc3Qgc2VydmVyIG9u
IGxvb3BiYWNrMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEh1TBz3vaCy42cn/x
zIad9P+SSRGoryjtrb8d9PLe6QqeSUFsiFV9YJ5TYWGy+lbRmnBxriT/P6HW68T1
o/UGRKOBjDCBiTAdBgNVHQ4EFgQUkosoGQREB6onimHHGOaOnOKVdxwwHwYDVR0j
BBgwFoAUkosoGQREB6onimHHGOaOnOKVdxwwDwYDVR0TAQH/BAUwAwEB/zA2BgNV
HREELzAtggtleGFtcGxlLmNvbYINKi5leGFtcGxlLmNvbYcEfwAAAYIJbG9jYWxo
b3N0MAoGCCqGSM49BAMCA0gAMEUCIH90R5A1UZt1E3PtY/ftEJhG5AVtO7XB7Sxi
Vd+eYcMJAiEAy7CZmM2sTkirpI/myIoDzEUXbM1MCEZbqgTuiohydF0=
-----END CERTIFICATE-----
`,
};
