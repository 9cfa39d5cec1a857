import { randomBytes } from 'node:crypto';
import {
  aesDecryptCTR,
  aesDecryptGCM,
  aesEncryptCTR,
  type BinaryNode,
  Curve,
  derivePairingCodeKey,
  hkdf,
  jidDecode,
} from 'baileys';
import type { Connection } from '../connection.ts';
import type { Network } from '../network.ts';
import { bytesOf, SERVER_JID, stanza } from '../stanza.ts';
import type { Account, Companion } from './account.ts';
import { consent, newId, nowS } from './linking.ts';
import { type Answer, QueryError } from './queries.ts';

/** A client that shows a code and waits until it is typed on a phone. */
export interface CodeLink {
  readonly number: string;
  /** The client's key for this linking, encrypted with the code: 32 bytes of salt, 16 of IV, then the key. */
  readonly wrappedKey: Buffer;
  readonly ref: Buffer;
  /** Handles the client's response once the code was typed. */
  finish?(answer: BinaryNode): void;
}

/** Handles the client's part of linking by code: it announces that it shows one, and later answers the phone. */
export function answerCodeQuery(network: Network, connection: Connection, ask: BinaryNode): Answer {
  const { link } = connection;
  if (link === undefined) throw new QueryError(400, 'bad-request');
  if (ask.attrs['stage'] === 'companion_hello') {
    const number = jidDecode(ask.attrs['jid'])?.user ?? '';
    const wrappedKey = bytesOf(ask, 'link_code_pairing_wrapped_companion_ephemeral_pub');
    link.code = { number, wrappedKey, ref: Buffer.from(`ref-${newId()}`) };
    network.codesShown.add(connection);
    return [stanza('link_code_companion_reg', {}, [stanza('link_code_pairing_ref', {}, link.code.ref)])];
  }
  if (link.code?.finish === undefined) throw new QueryError(400, 'bad-request');
  link.code.finish(ask);
  return undefined;
}

/** Types a code on the phone. Resolves once the client is linked, and rejects if the code is wrong. */
export async function enterCode(network: Network, account: Account, code: string): Promise<Companion> {
  // A client shows its code before the server knows it.
  const connection = await network.codesShown.waitFor(
    (shown) => network.connections.has(shown) && shown.link?.code?.number === account.number,
  );
  const waiting = connection.link?.code;
  if (waiting === undefined) throw new Error('the client has taken its code back');
  const ephemeral = Curve.generateKeyPair();
  const clientKey = await unwrap(waiting.wrappedKey, code);
  const wrappedKey = await wrap(ephemeral.public, code);
  const answered = new Promise<BinaryNode>((resolve) => {
    waiting.finish = resolve;
  });
  connection.send(
    stanza('notification', { from: SERVER_JID, type: 'link_code_companion_reg', id: newId(), t: String(nowS()) }, [
      stanza('link_code_companion_reg', { stage: 'primary_hello' }, [
        stanza('link_code_pairing_ref', {}, waiting.ref),
        stanza('primary_identity_pub', {}, account.signal.identityKey.public),
        stanza('link_code_pairing_wrapped_primary_ephemeral_pub', {}, wrappedKey),
      ]),
    ]),
  );
  const answer = await answered;
  const identity = bytesOf(answer, 'companion_identity_public');
  const shared = Curve.sharedKey(ephemeral.private, clientKey);
  const random = openBundle(bytesOf(answer, 'link_code_pairing_wrapped_key_bundle'), shared, account, identity);
  const identityShared = Curve.sharedKey(account.signal.identityKey.private, identity);
  const secret = hkdf(Buffer.concat([shared, identityShared, random]), 32, { info: 'adv_secret' });
  return consent(connection, account, identity, secret);
}

/** Two identities and 32 random bytes, readable only if both sides used the same code. */
function openBundle(bundle: Buffer, shared: Buffer, account: Account, identity: Buffer): Buffer {
  const salt = bundle.subarray(0, 32);
  const key = Buffer.from(hkdf(shared, 32, { salt, info: 'link_code_pairing_key_bundle_encryption_key' }));
  let plain: Buffer;
  try {
    plain = aesDecryptGCM(bundle.subarray(44), key, bundle.subarray(32, 44), Buffer.alloc(0));
  } catch (cause) {
    throw new Error('the code is wrong', { cause });
  }
  const isRight =
    plain.subarray(0, 32).equals(identity) && plain.subarray(32, 64).equals(account.signal.identityKey.public);
  if (!isRight) throw new Error('the identities of the client do not match');
  return plain.subarray(64);
}

async function unwrap(wrapped: Buffer, code: string): Promise<Buffer> {
  const key = await derivePairingCodeKey(code, wrapped.subarray(0, 32));
  return aesDecryptCTR(wrapped.subarray(48, 80), key, wrapped.subarray(32, 48));
}

async function wrap(key: Uint8Array, code: string): Promise<Buffer> {
  const [salt, iv] = [randomBytes(32), randomBytes(16)];
  return Buffer.concat([salt, iv, aesEncryptCTR(key, await derivePairingCodeKey(code, salt), iv)]);
}
