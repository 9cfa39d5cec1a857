/** A difference to the references that is known and stays. */
export interface KnownDifference {
  /** Kinds of messages; all if omitted. */
  readonly kinds?: readonly string[];
  readonly path: RegExp;
  readonly reason: string;
}

const EDITS = ['edit', 'edited caption', 'deletion', 'deletion by an admin', 'deleted status'];
const STATUSES = ['text status', 'image status'];

export const KNOWN: readonly KnownDifference[] = [
  {
    path: /\.mediaKeyTimestamp$/,
    reason: 'Baileys adds the time of the key to each file, as phones do; mautrix adds it to link previews only.',
  },
  {
    kinds: [...EDITS, 'vote'],
    path: /^stanza\.enc\.decrypt-fail$/,
    reason:
      'Baileys hides only unreadable reactions and pins. A phone that cannot read another change shows "Waiting for this message" until it gets it again.',
  },
  {
    kinds: ['edit', 'edited caption'],
    path: /^wrapper$/,
    reason: 'Baileys sends edits without `editedMessage`. The attribute of the stanza is the same.',
  },
  {
    kinds: ['edited caption'],
    path: /^message\.messageContextInfo\.messageSecret$/,
    reason: 'We make this message without Baileys, and nothing answers an edit with its secret.',
  },
  {
    kinds: ['removed reaction'],
    path: /^stanza\.edit$/,
    reason: 'Baileys and whatsapp-rust remove a reaction without the attribute, whatsmeow with it.',
  },
  {
    kinds: ['link preview'],
    path: /^(stanza\.(type|enc\.mediatype)|message\.extendedTextMessage\.(previewType|thumbnail\w+|mediaKey\w*))$/,
    reason:
      'Baileys sends a preview as text, with its small image in the message. The large one needs another upload, which we do not make.',
  },
  {
    kinds: ['forwarded text'],
    path: /\.forwardingScore$/,
    reason: 'A score of 1 is shown as "Forwarded", and GOWA\'s score of 100 as "Forwarded many times".',
  },
  {
    kinds: ['view once image', 'video note'],
    path: /^(wrapper|stanza\.(type|enc\.mediatype))$/,
    reason: 'Baileys wraps view-once files, and omits the media type of wrapped files and video notes.',
  },
  {
    kinds: ['video note'],
    path: /^message\.ptvMessage\.(width|height|jpegThumbnail|seconds)$/,
    reason: 'Baileys drops size, duration and thumbnail of video notes.',
  },
  {
    kinds: ['document with caption'],
    path: /^wrapper$/,
    reason: 'GOWA and Baileys send the caption in the document, mautrix in a wrapper.',
  },
  {
    kinds: ['album'],
    path: /^stanza\.type$/,
    reason: 'Baileys calls the head of an album a text. It has no file.',
  },
  {
    kinds: ['image of an album'],
    path: /^wrapper$/,
    reason: 'Baileys adds the association to the image itself, which whatsapp-rust wraps.',
  },
  {
    kinds: ['location'],
    path: /^message\.locationMessage\.(name|address)$/,
    reason: 'Our API has a name and an address for a location, which GOWA lacks.',
  },
  {
    kinds: ['disappearing timer'],
    path: /^(wrapper|message\.protocolMessage\.ephemeralSettingTimestamp)$/,
    reason: 'Baileys wraps the setting, and sends no time of the change.',
  },
  {
    kinds: ['text in a disappearing chat'],
    path: /\.ephemeralSettingTimestamp$/,
    reason: 'Baileys and GOWA send the duration alone.',
  },
  {
    kinds: STATUSES,
    path: /^stanza\.meta\.status_setting$/,
    reason: 'Neither Baileys nor whatsmeow describes the audience of a status to the server.',
  },
  {
    kinds: ['image status'],
    path: /^message\.imageMessage\.(width|height)$/,
    reason: 'The size of the image, which whatsapp-rust leaves out.',
  },
  {
    kinds: ['image in a channel'],
    path: /^stanza\.(media_id|plaintext\.mediatype)$/,
    reason: 'Baileys does not return the handle of an upload, and does not describe the file in the stanza.',
  },
];
