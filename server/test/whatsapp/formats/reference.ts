/*
 * The messages of other implementations, written from their sources:
 * - whatsmeow: github.com/tulir/whatsmeow at 33cfac51 (2026-08-21)
 * - mautrix: github.com/mautrix/whatsapp at d70eb6b1 (2026-08-21), a bridge on whatsmeow
 * - GOWA: github.com/aldinokemal/go-whatsapp-web-multidevice at 51f7b199 (2026-08-22), a gateway on whatsmeow
 * - whatsapp-rust: github.com/jlucaso1/whatsapp-rust at 240d631a (2026-04-30)
 *
 * Direct chats and groups use LIDs. The client sends reporting tokens, so most messages have a secret.
 */

/** A value that differs from message to message. */
export class Varying {
  readonly name: string;
  readonly fits: (value: unknown) => boolean;
  constructor(name: string, fits: (value: unknown) => boolean) {
    this.name = name;
    this.fits = fits;
  }
}

export interface Reference {
  /** File and function that build this message. */
  readonly source: string;
  /** Left out if no other implementation builds the content. */
  readonly message?: object;
  readonly stanza: Readonly<Record<string, string>>;
}

const isText = (value: unknown): value is string => typeof value === 'string';
const bytes = (count: number) =>
  new Varying(`${count} bytes`, (value) => isText(value) && Buffer.from(value, 'base64').length === count);
const SOME_BYTES = new Varying('bytes', (value) => isText(value) && Buffer.from(value, 'base64').length > 0);
const COUNT = new Varying('a number', (value) => Number(value) > 0);
const TIME_MS = new Varying('milliseconds', (value) => Number(value) > 1e12);
const TIME_S = new Varying('seconds', (value) => Number(value) > 1e9 && Number(value) < 1e11);
const URL_TEXT = new Varying('a URL', (value) => isText(value) && URL.canParse(value));
const PATH = new Varying('a path', (value) => isText(value) && value.startsWith('/'));

const messageContextInfo = { messageSecret: bytes(32) };
const DIRECT = { to: 'Bob-lid@lid', type: 'text' };
const GROUP = { to: 'group', type: 'text' };
const HIDDEN = { 'enc.decrypt-fail': 'hide' };
const target = { id: 'target', remoteJid: 'Bob-lid@lid' };
const ofBob = { id: 'target', remoteJid: 'group', participant: 'Bob-lid@lid' };

const stored = (mimetype: string) => ({
  url: URL_TEXT,
  directPath: PATH,
  mimetype,
  fileSha256: bytes(32),
  fileLength: COUNT,
});
const sealed = (mimetype: string) => ({ ...stored(mimetype), mediaKey: bytes(32), fileEncSha256: bytes(32) });
const picture = { width: COUNT, height: COUNT, jpegThumbnail: SOME_BYTES };
const imageMessage = { ...sealed('image/png'), ...picture, caption: 'Look' };
const media = (mediatype: string) => ({ ...DIRECT, type: 'media', 'enc.mediatype': mediatype });

const TEXT = 'mautrix from-matrix.go#constructTextMessage';
const MEDIA = 'mautrix from-matrix.go#constructMediaMessage; whatsmeow send.go#getMediaTypeFromMessage';

export const REFERENCES: Readonly<Record<string, Reference>> = {
  text: { source: TEXT, message: { extendedTextMessage: { text: 'Hello' }, messageContextInfo }, stanza: DIRECT },
  'text in a group': {
    source: TEXT,
    message: { extendedTextMessage: { text: 'Hello' }, messageContextInfo },
    stanza: GROUP,
  },
  'link preview': {
    source: 'mautrix urlpreview.go#convertURLPreviewToWhatsApp; whatsmeow send.go#getMediaTypeFromMessage',
    message: {
      extendedTextMessage: {
        text: 'See https://example.com/tea',
        matchedText: 'https://example.com/tea',
        title: 'Teas',
        description: 'Green',
        jpegThumbnail: SOME_BYTES,
        thumbnailDirectPath: PATH,
        thumbnailSha256: bytes(32),
        thumbnailEncSha256: bytes(32),
        thumbnailWidth: COUNT,
        thumbnailHeight: COUNT,
        mediaKey: bytes(32),
        mediaKeyTimestamp: TIME_S,
      },
      messageContextInfo,
    },
    stanza: media('url'),
  },
  reply: {
    source: 'GOWA send.go#mergeReplyContext',
    message: {
      extendedTextMessage: {
        text: 'Yes',
        contextInfo: { stanzaId: 'target', participant: 'Bob-lid@lid', quotedMessage: { conversation: 'Tea?' } },
      },
      messageContextInfo,
    },
    stanza: DIRECT,
  },
  'reply in a group': {
    source: 'GOWA send.go#mergeReplyContext',
    message: {
      extendedTextMessage: {
        text: 'Yes',
        contextInfo: { stanzaId: 'target', participant: 'Bob-lid@lid', quotedMessage: { conversation: 'Tea?' } },
      },
      messageContextInfo,
    },
    stanza: GROUP,
  },
  mention: {
    source: 'mautrix from-matrix.go#convertPill',
    message: {
      extendedTextMessage: { text: 'Hi @Bob-lid', contextInfo: { mentionedJid: ['Bob-lid@lid'] } },
      messageContextInfo,
    },
    stanza: GROUP,
  },
  'mention of everyone': {
    source: 'mautrix from-matrix.go#generateContextInfo',
    message: { extendedTextMessage: { text: 'Hi all', contextInfo: { nonJidMentions: 1 } }, messageContextInfo },
    stanza: GROUP,
  },
  'forwarded text': {
    source: 'GOWA send.go#SendText',
    message: {
      extendedTextMessage: { text: 'Tea?', contextInfo: { isForwarded: true, forwardingScore: 100 } },
      messageContextInfo,
    },
    stanza: DIRECT,
  },
  image: { source: MEDIA, message: { imageMessage, messageContextInfo }, stanza: media('image') },
  'view once image': {
    source: 'GOWA send.go#SendImage; whatsmeow send.go#getMediaTypeFromMessage',
    message: { imageMessage: { ...imageMessage, caption: '', viewOnce: true }, messageContextInfo },
    stanza: media('image'),
  },
  video: {
    source: MEDIA,
    message: {
      videoMessage: { ...sealed('video/mp4'), ...picture, seconds: COUNT, caption: 'Look' },
      messageContextInfo,
    },
    stanza: media('video'),
  },
  gif: {
    source: MEDIA,
    message: {
      videoMessage: { ...sealed('video/mp4'), ...picture, seconds: COUNT, gifPlayback: true },
      messageContextInfo,
    },
    stanza: media('gif'),
  },
  'video note': {
    source: 'whatsapp-rust wacore/src/send.rs#media_type_from_message; content as in a video',
    message: {
      ptvMessage: { ...sealed('video/mp4'), ...picture, seconds: COUNT },
      messageContextInfo,
    },
    stanza: media('ptv'),
  },
  audio: {
    source: MEDIA,
    message: { audioMessage: { ...sealed('audio/mpeg'), seconds: COUNT }, messageContextInfo },
    stanza: media('audio'),
  },
  voice: {
    source: MEDIA,
    message: {
      audioMessage: { ...sealed('audio/ogg; codecs=opus'), seconds: COUNT, ptt: true, waveform: bytes(64) },
      messageContextInfo,
    },
    stanza: media('ptt'),
  },
  document: {
    source: MEDIA,
    message: { documentMessage: { ...sealed('text/plain'), fileName: 'tea.txt' }, messageContextInfo },
    stanza: media('document'),
  },
  'document with caption': {
    source: MEDIA,
    message: {
      documentWithCaptionMessage: {
        message: { documentMessage: { ...sealed('text/plain'), fileName: 'tea.txt', caption: 'Read' } },
      },
      messageContextInfo,
    },
    stanza: media('document'),
  },
  sticker: {
    source: MEDIA,
    message: { stickerMessage: { ...sealed('image/webp'), width: COUNT, height: COUNT }, messageContextInfo },
    stanza: media('sticker'),
  },
  album: {
    source: 'whatsapp-rust wacore/src/send.rs#stanza_type_from_message',
    stanza: { ...DIRECT, type: 'media' },
  },
  'image of an album': {
    source: 'whatsapp-rust wacore/src/proto_helpers.rs#wrap_as_album_child',
    message: {
      associatedChildMessage: { message: { imageMessage: { ...imageMessage, caption: '' } } },
      messageContextInfo: {
        ...messageContextInfo,
        messageAssociation: { associationType: 'MEDIA_ALBUM', parentMessageKey: { ...target, fromMe: true } },
      },
    },
    stanza: media('image'),
  },
  location: {
    source: 'GOWA send.go#SendLocation; whatsmeow send.go#getTypeFromMessage',
    message: { locationMessage: { degreesLatitude: 52.5, degreesLongitude: 13.4 }, messageContextInfo },
    stanza: DIRECT,
  },
  contact: {
    source: 'GOWA send.go#SendContact',
    message: {
      contactMessage: {
        displayName: 'Ann',
        vcard: new Varying(
          'a card with the number as waid',
          (value) => isText(value) && /\nFN:Ann\nTEL;.*waid=15550001234:\+15550001234\n/.test(value),
        ),
      },
      messageContextInfo,
    },
    stanza: media('vcard'),
  },
  poll: {
    source: 'whatsapp-rust src/features/polls.rs#create',
    message: {
      pollCreationMessageV3: {
        name: 'Tea?',
        options: [{ optionName: 'Yes' }, { optionName: 'No' }],
        selectableOptionsCount: 1,
      },
      messageContextInfo,
    },
    stanza: { ...DIRECT, type: 'poll', 'meta.polltype': 'creation' },
  },
  'poll of several choices': {
    source: 'mautrix matrixpoll.go#PollStartToWhatsApp; whatsmeow send.go#getMessageContent',
    message: {
      pollCreationMessage: { name: 'Tea?', options: [{ optionName: 'Yes' }, { optionName: 'No' }] },
      messageContextInfo,
    },
    stanza: { ...DIRECT, type: 'poll', 'meta.polltype': 'creation' },
  },
  vote: {
    source: 'whatsmeow msgsecret.go#EncryptPollVote, send.go#prepareMessageNode',
    message: {
      pollUpdateMessage: {
        pollCreationMessageKey: target,
        vote: { encPayload: SOME_BYTES, encIv: bytes(12) },
        senderTimestampMs: TIME_MS,
      },
    },
    stanza: { ...DIRECT, ...HIDDEN, type: 'poll', 'meta.polltype': 'vote' },
  },
  event: {
    source: 'whatsapp-rust src/send.rs#infer_stanza_metadata',
    stanza: { ...DIRECT, type: 'event', 'meta.event_type': 'creation' },
  },
  reaction: {
    source: 'whatsmeow send.go#BuildReaction',
    message: { reactionMessage: { key: target, text: '👍', senderTimestampMs: TIME_MS } },
    stanza: { ...DIRECT, ...HIDDEN, type: 'reaction' },
  },
  'reaction in a group': {
    source: 'whatsmeow send.go#BuildMessageKey',
    message: { reactionMessage: { key: ofBob, text: '👍', senderTimestampMs: TIME_MS } },
    stanza: { ...GROUP, ...HIDDEN, type: 'reaction' },
  },
  'removed reaction': {
    source: 'whatsmeow send.go#getEditAttribute',
    message: { reactionMessage: { key: target, senderTimestampMs: TIME_MS } },
    stanza: { ...DIRECT, ...HIDDEN, type: 'reaction', edit: '7' },
  },
  edit: {
    source: 'whatsmeow send.go#BuildEdit',
    message: {
      editedMessage: {
        message: {
          protocolMessage: {
            key: { ...target, fromMe: true },
            type: 'MESSAGE_EDIT',
            editedMessage: { extendedTextMessage: { text: 'Hello' } },
            timestampMs: TIME_MS,
          },
        },
      },
      messageContextInfo,
    },
    stanza: { ...DIRECT, ...HIDDEN, edit: '1' },
  },
  'edited caption': {
    source: 'whatsmeow send.go#BuildEdit',
    message: {
      editedMessage: {
        message: {
          protocolMessage: {
            key: { ...target, fromMe: true },
            type: 'MESSAGE_EDIT',
            editedMessage: { imageMessage },
            timestampMs: TIME_MS,
          },
        },
      },
      messageContextInfo,
    },
    stanza: { ...DIRECT, ...HIDDEN, edit: '1' },
  },
  deletion: {
    source: 'whatsmeow send.go#BuildRevoke',
    message: { protocolMessage: { key: { ...target, fromMe: true }, type: 'REVOKE' }, messageContextInfo },
    stanza: { ...DIRECT, ...HIDDEN, edit: '7' },
  },
  'deletion by an admin': {
    source: 'whatsmeow send.go#BuildRevoke',
    message: { protocolMessage: { key: ofBob, type: 'REVOKE' }, messageContextInfo },
    stanza: { ...GROUP, ...HIDDEN, edit: '8' },
  },
  pin: {
    source: 'whatsapp-rust src/send.rs#send_pin',
    message: {
      pinInChatMessage: { key: target, type: 'PIN_FOR_ALL', senderTimestampMs: TIME_MS },
      messageContextInfo: { ...messageContextInfo, messageAddOnDurationInSecs: 86_400 },
    },
    stanza: { ...DIRECT, ...HIDDEN, edit: '2' },
  },
  'removed pin': {
    source: 'whatsapp-rust src/send.rs#send_pin',
    message: {
      pinInChatMessage: { key: target, type: 'UNPIN_FOR_ALL', senderTimestampMs: TIME_MS },
      messageContextInfo,
    },
    stanza: { ...DIRECT, ...HIDDEN, edit: '2' },
  },
  'disappearing timer': {
    source: 'whatsmeow send.go#SetDisappearingTimer',
    message: {
      protocolMessage: {
        type: 'EPHEMERAL_SETTING',
        ephemeralExpiration: 86_400,
        ephemeralSettingTimestamp: TIME_S,
      },
      messageContextInfo,
    },
    stanza: DIRECT,
  },
  'text in a disappearing chat': {
    source: 'mautrix from-matrix.go#generateContextInfo',
    message: {
      extendedTextMessage: {
        text: 'Hello',
        contextInfo: { expiration: 86_400, ephemeralSettingTimestamp: TIME_S },
      },
      messageContextInfo,
    },
    stanza: DIRECT,
  },
  'text status': {
    source: 'whatsapp-rust src/features/status.rs#send_text',
    message: {
      extendedTextMessage: { text: 'Hello', backgroundArgb: 0xff1f6f5c, font: 'FB_SCRIPT' },
      messageContextInfo,
    },
    stanza: { to: 'status@broadcast', type: 'text', 'meta.status_setting': 'allowlist' },
  },
  'image status': {
    source: 'whatsapp-rust src/features/status.rs#send_image',
    message: {
      imageMessage: { ...sealed('image/png'), jpegThumbnail: SOME_BYTES, caption: 'Look' },
      messageContextInfo,
    },
    stanza: {
      to: 'status@broadcast',
      type: 'media',
      'enc.mediatype': 'image',
      'meta.status_setting': 'allowlist',
    },
  },
  'deleted status': {
    source: 'whatsapp-rust src/features/status.rs#revoke; whatsmeow send.go#BuildRevoke',
    message: {
      protocolMessage: { key: { id: 'target', remoteJid: 'status@broadcast', fromMe: true }, type: 'REVOKE' },
      messageContextInfo,
    },
    stanza: { to: 'status@broadcast', type: 'text', edit: '7', ...HIDDEN },
  },
  'channel post': {
    source: 'whatsmeow send.go#sendNewsletter',
    message: { extendedTextMessage: { text: 'Hello' }, messageContextInfo },
    stanza: { to: 'target', type: 'text' },
  },
  'image in a channel': {
    source: 'whatsmeow send.go#sendNewsletter, upload.go#UploadNewsletter',
    message: { imageMessage: { ...stored('image/png'), ...picture, caption: 'Look' }, messageContextInfo },
    stanza: { to: 'target', type: 'media', media_id: 'the handle of the upload', 'plaintext.mediatype': 'image' },
  },
};
