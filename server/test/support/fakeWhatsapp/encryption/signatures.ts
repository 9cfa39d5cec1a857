import { createPublicKey, verify } from 'node:crypto';

const P = 2n ** 255n - 19n;

/**
 * Whether a Curve25519 key made this signature (XEdDSA, https://signal.org/docs/specifications/xeddsa). The check of
 * the client library accepts every signature, so the server has its own, based only on Node's Ed25519.
 */
export function isSignedBy(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  if (publicKey.length !== 32 || signature.length !== 64) return false;
  // The sign of the Edwards point is the last bit of the signature, because a Montgomery key has none.
  const sign = (signature[63] ?? 0) & 0x80;
  const plain = Buffer.from(signature);
  plain[63] = (plain[63] ?? 0) & 0x7f;
  const point = edwardsY(publicKey);
  point[31] = (point[31] ?? 0) | sign;
  const key = createPublicKey({
    format: 'jwk',
    key: { kty: 'OKP', crv: 'Ed25519', x: point.toString('base64url') },
  });
  return verify(null, message, key, plain);
}

/** Converts a Montgomery u to an Edwards y: (u − 1) / (u + 1) (RFC 7748, section 4.1). */
function edwardsY(montgomery: Uint8Array): Buffer {
  const u = BigInt(`0x${Buffer.from(montgomery).reverse().toString('hex')}`) % P;
  const y = ((u - 1n + P) * power(u + 1n, P - 2n)) % P;
  return Buffer.from(y.toString(16).padStart(64, '0'), 'hex').reverse();
}

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  let square = base % P;
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = (result * square) % P;
    square = (square * square) % P;
  }
  return result;
}
