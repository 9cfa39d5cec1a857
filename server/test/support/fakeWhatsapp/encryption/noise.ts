import {
  aesDecryptGCM,
  aesEncryptGCM,
  Curve,
  hkdf,
  type KeyPair,
  NOISE_MODE,
  NOISE_WA_HEADER,
  proto,
  sha256,
  WA_CERT_DETAILS,
} from 'baileys';

/** The identity of the server in the handshake: its key, and a certificate chain to that key. */
export interface ServerIdentity {
  readonly rootPublicKey: Uint8Array;
  readonly staticKey: KeyPair;
  readonly certificates: Uint8Array;
}

/** The server's half of the handshake, then of the encrypted transport. */
export interface NoiseServer {
  /** Answers the client's first frame. */
  hello(frame: Uint8Array): Uint8Array;
  /** Reads the client's second frame. Afterwards `open` and `seal` are the transport. */
  finish(frame: Uint8Array): { clientKey: Uint8Array; payload: proto.ClientPayload };
  open(ciphertext: Uint8Array): Buffer;
  seal(plaintext: Uint8Array): Buffer;
}

const NOTHING = Buffer.alloc(0);
const FAR_FUTURE_S = 4_102_444_800;

/** A root of its own, because only Meta has the real private key. */
export function createServerIdentity(): ServerIdentity {
  const [root, intermediate, staticKey] = [Curve.generateKeyPair(), Curve.generateKeyPair(), Curve.generateKeyPair()];
  const certificate = (serial: number, issuerSerial: number, key: Uint8Array, issuer: KeyPair) => {
    const details = proto.CertChain.NoiseCertificate.Details.encode({
      serial,
      issuerSerial,
      key,
      notBefore: 0,
      notAfter: FAR_FUTURE_S,
    }).finish();
    return { details, signature: Curve.sign(issuer.private, details) };
  };
  const certificates = proto.CertChain.encode({
    intermediate: certificate(1, WA_CERT_DETAILS.SERIAL, intermediate.public, root),
    leaf: certificate(2, 1, staticKey.public, intermediate),
  }).finish();
  return { rootPublicKey: root.public, staticKey, certificates };
}

/** Noise_XX_25519_AESGCM_SHA256 as used by WhatsApp Web (https://noiseprotocol.org/noise.html, sections 5 and 7.5). */
export function createNoiseServer(identity: ServerIdentity): NoiseServer {
  let hash: Buffer = Buffer.from(NOISE_MODE);
  let salt = hash;
  let key = hash;
  let counter = 0;
  let ephemeral = Curve.generateKeyPair();
  let read = { key: NOTHING as Buffer, counter: 0 };
  let write = { key: NOTHING as Buffer, counter: 0 };

  const mixHash = (data: Uint8Array) => {
    hash = sha256(Buffer.concat([hash, data]));
  };
  const split = (input: Uint8Array) => {
    const derived = Buffer.from(hkdf(input, 64, { salt, info: '' }));
    return [derived.subarray(0, 32), derived.subarray(32)] as const;
  };
  const mixKey = (mine: KeyPair, theirs: Uint8Array) => {
    [salt, key] = split(Curve.sharedKey(mine.private, theirs));
    counter = 0;
  };
  const sealStep = (plaintext: Uint8Array) => {
    const ciphertext = aesEncryptGCM(plaintext, key, nonce(counter++), hash);
    mixHash(ciphertext);
    return ciphertext;
  };
  const openStep = (ciphertext: Uint8Array | null | undefined) => {
    if (!ciphertext) throw new Error('a part of the handshake is missing');
    const plaintext = aesDecryptGCM(ciphertext, key, nonce(counter++), hash);
    mixHash(ciphertext);
    return plaintext;
  };

  mixHash(NOISE_WA_HEADER);
  return {
    hello(frame) {
      const clientEphemeral = proto.HandshakeMessage.decode(frame).clientHello?.ephemeral;
      if (!clientEphemeral) throw new Error('the handshake does not begin with a client hello');
      mixHash(clientEphemeral);
      ephemeral = Curve.generateKeyPair();
      mixHash(ephemeral.public);
      mixKey(ephemeral, clientEphemeral);
      const sealedKey = sealStep(identity.staticKey.public);
      mixKey(identity.staticKey, clientEphemeral);
      const payload = sealStep(identity.certificates);
      return proto.HandshakeMessage.encode({
        serverHello: { ephemeral: ephemeral.public, static: sealedKey, payload },
      }).finish();
    },
    finish(frame) {
      const { clientFinish } = proto.HandshakeMessage.decode(frame);
      const clientKey = openStep(clientFinish?.static);
      mixKey(ephemeral, clientKey);
      const payload = proto.ClientPayload.decode(openStep(clientFinish?.payload));
      const [fromClient, toClient] = split(NOTHING);
      read = { key: fromClient, counter: 0 };
      write = { key: toClient, counter: 0 };
      return { clientKey, payload };
    },
    open: (ciphertext) => aesDecryptGCM(ciphertext, read.key, nonce(read.counter++), NOTHING),
    seal: (plaintext) => aesEncryptGCM(plaintext, write.key, nonce(write.counter++), NOTHING),
  };
}

function nonce(counter: number): Uint8Array {
  const bytes = Buffer.alloc(12);
  bytes.writeUInt32BE(counter, 8);
  return bytes;
}

/** Splits the data of the socket into frames, each preceded by its length in three bytes. */
export function createFrameReader(): (data: Uint8Array) => Buffer[] {
  let buffer: Buffer = NOTHING;
  let hasIntro = false;
  return (data) => {
    buffer = buffer.length === 0 ? Buffer.from(data) : Buffer.concat([buffer, data]);
    if (!hasIntro) {
      const rest = withoutIntro(buffer);
      if (rest === undefined) return [];
      buffer = rest;
      hasIntro = true;
    }
    const frames: Buffer[] = [];
    while (buffer.length >= 3) {
      const end = 3 + buffer.readUIntBE(0, 3);
      if (buffer.length < end) break;
      frames.push(buffer.subarray(3, end));
      buffer = buffer.subarray(end);
    }
    return frames;
  };
}

/** The start of a connection: routing information ("ED") if the client has any, then its dictionary version. */
function withoutIntro(buffer: Buffer): Buffer | undefined {
  const hasRoute = buffer.length >= 7 && buffer.toString('latin1', 0, 2) === 'ED';
  const start = hasRoute ? 7 + buffer.readUIntBE(4, 3) : 0;
  if (buffer.length < start + NOISE_WA_HEADER.length) return undefined;
  if (!buffer.subarray(start, start + NOISE_WA_HEADER.length).equals(NOISE_WA_HEADER))
    throw new Error('not a WhatsApp Web client, or one with another dictionary');
  return buffer.subarray(start + NOISE_WA_HEADER.length);
}

export function frameOf(body: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(3 + body.length);
  frame.writeUIntBE(body.length, 0, 3);
  frame.set(body, 3);
  return frame;
}
