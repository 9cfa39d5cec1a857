import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { proto } from 'baileys';
import * as baileys from 'baileys';
import type { MessageContent } from '../../../src/connectors/connector.ts';
import { concernsPeople, type Parsed, parseContent } from '../../../src/connectors/whatsapp/inbound/incomingContent.ts';

type Message = proto.IMessage;

const parse = (message: Message) => parseContent(baileys, message);
const text = (words: string, more: Partial<MessageContent> = {}): Parsed['content'] => ({
  type: 'text',
  text: words,
  ...more,
});
const bytes = (length: number) => new Uint8Array(length).fill(7);
const file = {
  directPath: '/v/t62.7118-24/1_n.enc?ccb=11-4&oh=01',
  mediaKey: bytes(32),
  fileSha256: bytes(32),
  fileEncSha256: bytes(32),
};
const vcard = (...lines: string[]) => ['BEGIN:VCARD', 'VERSION:3.0', ...lines, 'END:VCARD'].join('\n');

describe('the content of a WhatsApp message', () => {
  it('is read from every message type with content', () => {
    const cases: [message: Message, content: Parsed['content']][] = [
      [{ conversation: 'hello' }, text('hello')],
      [{ conversation: '' }, text('')],
      [{ extendedTextMessage: { text: 'hello' } }, text('hello')],
      [{ extendedTextMessage: {} }, text('')],
      [
        { locationMessage: { degreesLatitude: 1, degreesLongitude: -2, name: 'Café', address: '' } },
        { type: 'location', text: '', location: { latitude: 1, longitude: -2, name: 'Café' } },
      ],
      [
        { liveLocationMessage: { degreesLatitude: 1, degreesLongitude: 2, caption: 'on my way' } },
        { type: 'location', text: 'on my way', location: { latitude: 1, longitude: 2 } },
      ],
      [
        { pollCreationMessage: { name: 'Lunch?', options: [{ optionName: 'yes' }, {}], selectableOptionsCount: 1 } },
        { type: 'poll', text: 'Lunch?', poll: { options: ['yes', ''], maxSelections: 1 } },
      ],
      [
        { pollCreationMessageV3: { name: 'Any?', options: [{ optionName: 'a' }, { optionName: 'b' }] } },
        { type: 'poll', text: 'Any?', poll: { options: ['a', 'b'], maxSelections: 2 } },
      ],
      [{ pollCreationMessageV2: {} }, { type: 'poll', text: '', poll: { options: [], maxSelections: 1 } }],
      [
        { buttonsResponseMessage: { selectedDisplayText: 'Yes', selectedButtonId: 'y' } },
        text('Yes', { payload: 'y' }),
      ],
      [{ templateButtonReplyMessage: { selectedDisplayText: 'Yes', selectedId: '' } }, text('Yes')],
      [
        { listResponseMessage: { title: 'Pizza', singleSelectReply: { selectedRowId: '3' } } },
        text('Pizza', { payload: '3' }),
      ],
      [{ interactiveResponseMessage: { body: { text: 'done' } } }, text('done')],
      [{ groupInviteMessage: { caption: '', groupName: 'Team' } }, text('Team')],
    ];
    for (const [message, content] of cases) assert.deepEqual(parse(message)?.content, content, JSON.stringify(message));
  });

  it('is read through its wrappers', () => {
    const message = { conversation: 'hello' };
    for (const wrapped of [
      { ephemeralMessage: { message } },
      { viewOnceMessageV2: { message } },
      { ephemeralMessage: { message: { viewOnceMessage: { message } } } },
      { senderKeyDistributionMessage: {}, messageContextInfo: {}, conversation: 'hello' },
    ])
      assert.deepEqual(parse(wrapped)?.content, text('hello'), Object.keys(wrapped).join());
  });

  it('is undefined if the message shows nothing to a person', () => {
    for (const message of [
      {},
      { senderKeyDistributionMessage: {} },
      { protocolMessage: {} },
      { reactionMessage: { text: '👍' } },
      { pollUpdateMessage: {} },
      { ephemeralMessage: { message: { protocolMessage: {} } } },
    ])
      assert.equal(parse(message), undefined, Object.keys(message).join());
  });

  it('names a type that cannot be shown', () => {
    const message: Message = { orderMessage: { orderId: '1' } };
    assert.deepEqual(parse(message)?.content, text('[WhatsApp message of a kind that cannot be shown: orderMessage]'));
  });

  it('includes the context of a reply', () => {
    const contextInfo = { stanzaId: 'A' };
    assert.equal(parse({ extendedTextMessage: { text: 'yes', contextInfo } })?.context, contextInfo);
    assert.equal(parse({ imageMessage: { contextInfo } })?.context, contextInfo);
    assert.equal(parse({ contactMessage: { contextInfo } })?.context, contextInfo);
  });
});

describe('a file in a WhatsApp message', () => {
  it('is parsed with its type, caption and name', () => {
    const described = { ...file, mimetype: 'image/png', fileLength: 12 };
    const cases: [message: Message, type: string, caption: string][] = [
      [{ imageMessage: { ...described, caption: 'look' } }, 'image', 'look'],
      [{ videoMessage: described }, 'video', ''],
      [{ ptvMessage: described }, 'video', ''],
      [{ audioMessage: described }, 'audio', ''],
      [{ audioMessage: { ...described, ptt: true } }, 'voice', ''],
      [{ stickerMessage: described }, 'sticker', ''],
      [{ documentMessage: { ...described, caption: 'see' } }, 'document', 'see'],
    ];
    for (const [message, type, caption] of cases) {
      const parsed = parse(message);
      assert.deepEqual(parsed?.content, { type, text: caption });
      assert.deepEqual(parsed.media, {
        mimeType: 'image/png',
        size: 12,
        fileName: null,
        file: {
          directPath: file.directPath,
          mediaKey: bytes(32),
          keyType: type === 'voice' ? 'ptt' : type,
          hash: bytes(32),
          encryptedHash: bytes(32),
        },
      });
    }
    assert.equal(parse({ documentMessage: { ...described, fileName: 'a.pdf' } })?.media?.fileName, 'a.pdf');
    assert.equal(parse({ imageMessage: {} })?.media?.mimeType, 'application/octet-stream');
  });

  it('is available only if its entire reference is valid', () => {
    for (const damage of [
      { directPath: null },
      { directPath: '' },
      { directPath: 'v/1.enc' },
      { directPath: '@example.com/' },
      { directPath: 'https://example.com/' },
      { directPath: '/a b' },
      { directPath: '/a\\b' },
      { directPath: '/a\r\nb' },
      { directPath: '/ä' },
      { mediaKey: null },
      { mediaKey: bytes(31) },
      { fileSha256: bytes(33) },
      { fileEncSha256: bytes(0) },
    ])
      assert.equal(parse({ imageMessage: { ...file, ...damage } })?.media?.file, undefined, JSON.stringify(damage));
  });
});

describe('a contact in a WhatsApp message', () => {
  it('has the names and numbers of its vCards', () => {
    const ann = vcard('FN:Ann', 'TEL;type=CELL;waid=491701111111:+49 170 1111111');
    const bob = vcard('FN;CHARSET=UTF-8:Bob', 'item1.TEL:+49 (170) 2222222', 'TEL:none', 'EMAIL:491703333333@x.de');
    const cases: [message: Message, name: string, phoneNumbers: string[]][] = [
      [{ contactMessage: { displayName: 'Annie', vcard: ann } }, 'Annie', ['491701111111']],
      [{ contactMessage: { vcard: ann } }, 'Ann', ['491701111111']],
      [{ contactMessage: { vcard: ann.replaceAll('\n', '\r\n') } }, 'Ann', ['491701111111']],
      [{ contactMessage: { vcard: ann.replace('1111111:', '111\n 1111:') } }, 'Ann', ['491701111111']],
      [{ contactMessage: { vcard: bob } }, 'Bob', ['491702222222']],
      [
        { contactsArrayMessage: { contacts: [{ vcard: ann }, {}, { vcard: bob }] } },
        'Ann',
        ['491701111111', '491702222222'],
      ],
      [{ contactMessage: {} }, '', []],
      [{ contactMessage: { vcard: 'nonsense' } }, '', []],
    ];
    for (const [message, name, phoneNumbers] of cases)
      assert.deepEqual(parse(message)?.content, { type: 'contact', text: '', contact: { name, phoneNumbers } });
  });
});

describe('the name on a vCard', () => {
  it('is unescaped', () => {
    const cases: [written: string, name: string][] = [
      ['Smith\\, Ann\\; Dr.', 'Smith, Ann; Dr.'],
      ['first\\nsecond\\Nthird', 'first\nsecond\nthird'],
      ['C:\\\\new', 'C:\\new'],
      ['ends with \\', 'ends with \\'],
    ];
    for (const [written, name] of cases)
      assert.equal(parse({ contactMessage: { vcard: vcard(`FN:${written}`) } })?.content.contact?.name, name);
  });
});

describe('a WhatsApp message', () => {
  it('concerns people if it has content or changes another message', () => {
    const { REVOKE, MESSAGE_EDIT, APP_STATE_SYNC_KEY_SHARE } = baileys.proto.Message.ProtocolMessage.Type;
    const cases: [message: Message, concerns: boolean][] = [
      [{ conversation: 'hello' }, true],
      [{ reactionMessage: {} }, true],
      [{ pollUpdateMessage: {} }, true],
      [{ protocolMessage: { type: REVOKE } }, true],
      [{ protocolMessage: { type: MESSAGE_EDIT } }, true],
      [{ protocolMessage: { type: APP_STATE_SYNC_KEY_SHARE } }, false],
      [{ ephemeralMessage: { message: { protocolMessage: { type: REVOKE } } } }, true],
      [{ senderKeyDistributionMessage: {} }, false],
      [{ orderMessage: {} }, true],
      [{}, false],
    ];
    for (const [message, concerns] of cases)
      assert.equal(concernsPeople(baileys, message), concerns, JSON.stringify(message));
  });
});
