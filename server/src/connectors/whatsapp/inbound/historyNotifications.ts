import { EventEmitter } from 'node:events';
import { deflateSync } from 'node:zlib';
import type { proto, SignalDataSet } from 'baileys';
import { HISTORY, HISTORY_PREFIX } from '../link/credentials.ts';
import type { Session } from '../session.ts';

/** A notification of the phone that a part of its history is ready. */
export interface Notified {
  /** Its key in the store. */
  readonly key: string;
  /** Its position in the order of arrival. */
  readonly place: number;
  /** A `proto.Message.HistorySyncNotification`, encoded. */
  readonly notification: Uint8Array;
}

/** A part that is sent within the message. WhatsApp does that with small ones. */
const MAX_INLINE_BYTES = 8 * 1024 * 1024;

/**
 * Keeps the notifications by which the phone announces its history.
 *
 * Baileys would download each part at once, decode it as a whole, and emit everything in it. A restart in the middle
 * would lose the rest. So the notification is stored in the transaction that uses up its key, like a message in the
 * journal, and Baileys gets the notification of an empty part in its place. It still confirms the notification to the
 * phone, and begins to read the state that the devices share.
 */
export class HistoryNotifications extends EventEmitter<{ notified: [notified: Notified] }> {
  readonly #session: Session;
  #lastPlace = 0;

  constructor(session: Session) {
    super();
    this.#session = session;
  }

  /**
   * @param message a `proto.Message`, encoded
   * @returns what to store, and what Baileys gets instead; undefined for any other message
   */
  intercept({ from, participant, id = '' }: Readonly<Record<string, string>>, message: Uint8Array) {
    const { baileys, self, host } = this.#session;
    // Baileys ignores those of others.
    if (!self.is(participant ?? from)) return undefined;
    const whole = baileys.proto.Message.decode(message);
    const inner = baileys.normalizeMessageContent(whole.deviceSentMessage?.message ?? whole);
    const given = inner?.protocolMessage?.historySyncNotification;
    if (!given || !isPart(baileys.proto.HistorySync.HistorySyncType, given.syncType)) return undefined;
    const isTooLarge = (given.initialHistBootstrapInlinePayload?.length ?? 0) > MAX_INLINE_BYTES;
    // Without its content it fails like one whose file is gone.
    const kept = isTooLarge ? { ...given, initialHistBootstrapInlinePayload: null } : given;
    this.#lastPlace = Math.max(this.#lastPlace + 1, host.clock.now());
    const notified: Notified = {
      key: HISTORY_PREFIX + id,
      place: this.#lastPlace,
      notification: baileys.proto.Message.HistorySyncNotification.encode(kept).finish(),
    };
    // Baileys passes on unknown types, but its TypeScript types do not.
    const entry = { [HISTORY]: { [id]: rowOf(notified) } } as SignalDataSet;
    return { notified, entry, replacement: baileys.encodeWAMessage(this.#emptyPart(given)) };
  }

  /** Returns the notifications that were not done before the last stop, oldest first. */
  async left(): Promise<Notified[]> {
    const entries = [...(await this.#session.store.list(HISTORY_PREFIX))].map(([key, text]): Notified => {
      const { place, notification } = JSON.parse(text);
      return { key, place, notification: Buffer.from(notification, 'base64') };
    });
    return entries.sort((a, b) => a.place - b.place);
  }

  #emptyPart({ syncType, chunkOrder, progress }: proto.Message.IHistorySyncNotification): proto.IMessage {
    const { HistorySync, Message } = this.#session.baileys.proto;
    // The enums of the two messages are different types with the same values.
    const empty = { syncType, progress, conversations: [] } as unknown as proto.IHistorySync;
    return {
      protocolMessage: {
        type: Message.ProtocolMessage.Type.HISTORY_SYNC_NOTIFICATION,
        historySyncNotification: {
          ...(syncType !== undefined && { syncType }),
          ...(chunkOrder !== undefined && { chunkOrder }),
          ...(progress !== undefined && { progress }),
          initialHistBootstrapInlinePayload: deflateSync(HistorySync.encode(empty).finish()),
        },
      },
    };
  }
}

function isPart(types: typeof proto.HistorySync.HistorySyncType, type: number | null | undefined): boolean {
  return typeof type === 'number' && Object.values(types).includes(type);
}

const rowOf = ({ place, notification }: Notified) => ({
  place,
  notification: Buffer.from(notification).toString('base64'),
});
