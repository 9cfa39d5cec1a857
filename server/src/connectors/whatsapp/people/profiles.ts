import { Readable } from 'node:stream';
import type { WASocket } from 'baileys';
import { type Dispatcher, request } from 'undici';
import { AppError } from '../../../errors.ts';
import type { NetworkMedia } from '../../contract/networkMedia.ts';
import type { ProfileActions } from '../../contract/profiles.ts';
import { boomOf } from '../link/errors.ts';
import type { Session } from '../session.ts';
import { type Addresses, jidOf } from './addresses.ts';
import { setPicture } from './picture.ts';

/** Pictures of WhatsApp take about 100 KB. */
const MAX_PICTURE_BYTES = 5 * 1024 * 1024;
const HIDDEN_OR_MISSING: readonly number[] = [401, 403, 404];

export function createProfiles({ creds, requests, ownFiles }: Session, addresses: Addresses): ProfileActions {
  const ask = <T>(request: (socket: WASocket, signal: AbortSignal) => Promise<T>) =>
    requests.ask(request, { forbidden: 'WhatsApp does not let this number' });

  async function pictureOf(jid: string): Promise<NetworkMedia | null> {
    const url = await ask((socket) => unlessHidden(() => socket.profilePictureUrl(jid, 'image')));
    return url ? ask((_, signal) => fetchPicture(url, ownFiles, signal)) : null;
  }

  async function setName(socket: WASocket, name: string): Promise<void> {
    await socket.updateProfileName(name);
    // Makes Baileys report the name that is sent with messages, and stores the credentials.
    if (creds.me !== undefined) socket.ev.emit('creds.update', { me: { ...creds.me, name } });
  }

  return {
    async read(phoneNumber) {
      addresses.requireKnown(phoneNumber);
      const jid = jidOf(phoneNumber);
      const [about, picture] = await Promise.all([
        ask((socket) => unlessHidden(() => aboutOf(socket, jid))),
        pictureOf(jid),
      ]);
      return { about, picture };
    },
    async update({ name, about, picture }) {
      const jid = creds.me?.id;
      if (jid === undefined) throw new AppError('session_not_connected');
      // Baileys would report this as well, but after the other changes.
      if (name !== undefined && creds.myAppStateKeyId === undefined)
        throw new AppError(
          'session_state',
          'The phone has not yet shared the keys for changing the name; open WhatsApp on the phone and try again in a minute',
        );
      // First, because it may be refused.
      if (picture !== undefined) await ask((socket) => setPicture(socket, jid, picture));
      if (about !== undefined) await ask((socket) => socket.updateProfileStatus(about));
      if (name !== undefined) await ask((socket) => setName(socket, name));
    },
  };
}

/**
 * Returns null for a part that is hidden or missing: the server answers 401 or 403 to the one, and 404 to the other.
 */
export async function unlessHidden<T>(request: () => Promise<T>): Promise<T | null> {
  try {
    return await request();
  } catch (error) {
    const { statusCode = 0 } = boomOf(error);
    if (HIDDEN_OR_MISSING.includes(statusCode)) return null;
    throw error;
  }
}

async function aboutOf(socket: WASocket, jid: string): Promise<string | null> {
  const [found] = (await socket.fetchStatus(jid)) ?? [];
  const about = found?.['status'];
  if (typeof about !== 'object' || about === null || !('status' in about)) return null;
  // Baileys returns an empty text for a hidden one.
  return typeof about.status === 'string' && about.status !== '' ? about.status : null;
}

/** @throws {AppError} `fetch_failed` */
export async function fetchPicture(
  url: string,
  dispatcher: Dispatcher,
  signal: AbortSignal,
): Promise<NetworkMedia | null> {
  try {
    const { statusCode, headers, body } = await request(url, { dispatcher, signal });
    if (statusCode !== 200) {
      await body.dump().catch(() => {});
      // Removed since the server returned its URL.
      if (statusCode === 404 || statusCode === 410) return null;
      throw notFetched(`its host answered ${statusCode}`);
    }
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of body) {
      size += chunk.length;
      if (size > MAX_PICTURE_BYTES) throw notFetched('it is too large');
      chunks.push(chunk);
    }
    const content = Buffer.concat(chunks);
    const type = headers['content-type'];
    const mimeType = typeof type === 'string' ? type : 'image/jpeg';
    return { mimeType, size, fileName: null, open: async () => Readable.from([content], { objectMode: false }) };
  } catch (cause) {
    throw cause instanceof AppError ? cause : notFetched('its host does not answer', cause);
  }
}

function notFetched(why: string, cause?: unknown): AppError {
  return new AppError('fetch_failed', `The picture could not be fetched from WhatsApp: ${why}`, { cause });
}
