import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { proto } from 'baileys';
import * as baileys from 'baileys';
import type { MessageContent } from '../../../../src/connectors/contract/content.ts';
import type { ContactCard } from '../../../../src/connectors/contract/contentParts.ts';
import {
  concernsPeople,
  type Parsed,
  parseContent,
  READERS,
} from '../../../../src/connectors/whatsapp/content/incomingContent.ts';
import { INTERNAL_KINDS } from '../../../../src/connectors/whatsapp/content/kinds.ts';

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
        { type: 'location', text: 'on my way', location: { latitude: 1, longitude: 2, live: {} } },
      ],
      [
        {
          liveLocationMessage: {
            degreesLatitude: 1,
            degreesLongitude: 2,
            accuracyInMeters: 5,
            speedInMps: 1.5,
            degreesClockwiseFromMagneticNorth: 90,
            sequenceNumber: 3,
          },
        },
        {
          type: 'location',
          text: '',
          location: {
            latitude: 1,
            longitude: 2,
            live: { accuracyInMeters: 5, metersPerSecond: 1.5, heading: 90, sequence: 3 },
          },
        },
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
        text('Yes', { payload: 'y', choice: { kind: 'button' } }),
      ],
      [
        { templateButtonReplyMessage: { selectedDisplayText: 'Yes', selectedId: '' } },
        text('Yes', { choice: { kind: 'template' } }),
      ],
      [
        { listResponseMessage: { title: 'Pizza', singleSelectReply: { selectedRowId: '3' } } },
        text('Pizza', { payload: '3', choice: { kind: 'list' } }),
      ],
      [{ interactiveResponseMessage: { body: { text: 'done' } } }, text('done', { choice: { kind: 'form' } })],
      [{ groupInviteMessage: { caption: '', groupName: 'Team' } }, text('Team')],
    ];
    for (const [message, content] of cases) assert.deepEqual(parse(message)?.content, content, JSON.stringify(message));
  });

  it('is read through its wrappers', () => {
    const message = { conversation: 'hello' };
    for (const wrapped of [
      { ephemeralMessage: { message } },
      { ephemeralMessage: { message: { groupMentionedMessage: { message } } } },
      { senderKeyDistributionMessage: {}, messageContextInfo: {}, conversation: 'hello' },
    ])
      assert.deepEqual(parse(wrapped)?.content, text('hello'), Object.keys(wrapped).join());
  });

  it('is undefined if the message shows nothing to a person', () => {
    for (const message of [
      { senderKeyDistributionMessage: {} },
      { protocolMessage: {} },
      { reactionMessage: { text: '👍' } },
      { pollUpdateMessage: {} },
      { ephemeralMessage: { message: { protocolMessage: {} } } },
    ])
      assert.equal(parse(message), undefined, Object.keys(message).join());
  });

  it('says what can be opened once, loops or moves', () => {
    const message = { imageMessage: {} };
    const flags: [message: Message, flag: Partial<MessageContent>][] = [
      [{ viewOnceMessage: { message } }, { isViewOnce: true }],
      [{ viewOnceMessageV2: { message } }, { isViewOnce: true }],
      [{ ephemeralMessage: { message: { viewOnceMessageV2Extension: { message } } } }, { isViewOnce: true }],
      [{ imageMessage: { viewOnce: true } }, { isViewOnce: true }],
      [{ videoMessage: { gifPlayback: true } }, { isGif: true }],
      [{ ptvMessage: {} }, { isVideoNote: true }],
      [{ stickerMessage: { isAnimated: true } }, { isAnimated: true }],
      [{ lottieStickerMessage: { message: { stickerMessage: {} } } }, { isAnimated: true }],
      [{ extendedTextMessage: { contextInfo: { nonJidMentions: 1 } } }, { mentionsAll: true }],
    ];
    for (const [whole, flag] of flags) {
      const { type: _, text: __, ...rest } = parse(whole)?.content ?? text('');
      assert.deepEqual(rest, flag, JSON.stringify(whole));
    }
  });

  it('has the fields of events, products, orders and invites', () => {
    const event = {
      name: 'Lunch',
      description: 'with cake',
      startTime: 1_900_000_000,
      endTime: 0,
      location: { degreesLatitude: 0, degreesLongitude: 0, name: 'Gate' },
      isCanceled: false,
      extraGuestsAllowed: true,
    };
    assert.deepEqual(parse({ eventMessage: event })?.content, {
      type: 'event',
      text: 'Lunch',
      event: {
        description: 'with cake',
        startsAt: 1_900_000_000_000,
        location: { name: 'Gate' },
        allowsExtraGuests: true,
      },
    });
    const product = { productId: '7', title: 'Tea', currencyCode: 'EUR', priceAmount1000: 4500, productImage: file };
    const offered = parse({ productMessage: { product, businessOwnerJid: '4930123456@s.whatsapp.net' } });
    assert.deepEqual(offered?.content, {
      type: 'product',
      text: 'Tea',
      product: { productId: '7', title: 'Tea', price: 4.5, currency: 'EUR', seller: '4930123456' },
    });
    assert.equal(offered.media?.file?.keyType, 'image');
    const order = { orderId: '9', itemCount: 2, totalAmount1000: 9000, totalCurrencyCode: 'EUR', message: 'Please' };
    assert.deepEqual(parse({ orderMessage: order })?.content, {
      type: 'order',
      text: 'Please',
      order: { orderId: '9', itemCount: 2, total: 9, currency: 'EUR' },
    });
    const invite = { groupJid: '1@g.us', inviteCode: 'Abc', groupName: 'Team', inviteExpiration: 1_900_000_000 };
    assert.deepEqual(parse({ groupInviteMessage: invite })?.content, {
      type: 'group_invite',
      text: 'Team',
      groupInvite: { networkId: '1@g.us', code: 'Abc', subject: 'Team', expiresAt: 1_900_000_000_000 },
    });
  });

  it('has the buttons, rows and links of a business', () => {
    const buttons = [{ buttonId: 'y', buttonText: { displayText: 'Yes' } }];
    const row = { rowId: '3', title: 'Pizza', description: 'large' };
    const flow = { name: 'cta_url', buttonParamsJson: '{"display_text":"Open","url":"https://example.com/"}' };
    const reply = { quickReplyButton: { id: 'a', displayText: 'Again' } };
    const cases: [message: Message, interactive: MessageContent['interactive']][] = [
      [{ buttonsMessage: { contentText: 'Tea?', buttons } }, { buttons: [{ id: 'y', title: 'Yes' }] }],
      [
        { listMessage: { description: 'Tea?', buttonText: 'Menu', sections: [{ title: 'Hot', rows: [row] }] } },
        { list: { title: 'Menu', rows: [{ id: '3', title: 'Pizza', description: 'large', section: 'Hot' }] } },
      ],
      [
        { templateMessage: { hydratedTemplate: { hydratedContentText: 'Tea?', hydratedButtons: [reply] } } },
        { buttons: [{ id: 'a', title: 'Again' }] },
      ],
      [
        { interactiveMessage: { body: { text: 'Tea?' }, nativeFlowMessage: { buttons: [flow] } } },
        { link: { title: 'Open', url: 'https://example.com/' } },
      ],
      [
        {
          interactiveMessage: {
            body: { text: 'Tea?' },
            nativeFlowMessage: { buttons: [{ name: 'x', buttonParamsJson: '{' }] },
          },
        },
        { buttons: [{ id: 'x', title: 'x' }] },
      ],
    ];
    for (const [message, interactive] of cases)
      assert.deepEqual(parse(message)?.content, { type: 'interactive', text: 'Tea?', interactive });
    const form = { name: 'flow', paramsJson: '{"id":"7","answer":1}' };
    assert.deepEqual(
      parse({ interactiveResponseMessage: { body: { text: 'Sent' }, nativeFlowResponseMessage: form } })?.content,
      text('Sent', { payload: '7', choice: { kind: 'form', name: 'flow', response: form.paramsJson } }),
    );
  });

  it('has the place of a file in its album', () => {
    const messageContextInfo = { messageAssociation: { associationType: 1, parentMessageKey: { id: 'A1' } } };
    const whole = { ephemeralMessage: { message: { imageMessage: {}, messageContextInfo } } };
    assert.deepEqual(parse(whole)?.content.album, { albumId: 'A1' });
    assert.deepEqual(parse({ imageMessage: {}, messageContextInfo })?.content.album, { albumId: 'A1' });
  });

  it('is stored with its kind and text if it has no type', () => {
    const noteMessage = { extendedTextMessage: { text: 'for the tea' } };
    assert.deepEqual(parse({ requestPaymentMessage: { noteMessage, amount1000: 5000 } })?.content, {
      type: 'unsupported',
      text: 'for the tea',
      rawType: 'requestPaymentMessage',
    });
    assert.deepEqual(parse({ declinePaymentRequestMessage: {} })?.content, {
      type: 'unsupported',
      text: '[WhatsApp message of a kind that cannot be shown: declinePaymentRequestMessage]',
      rawType: 'declinePaymentRequestMessage',
    });
  });

  it('is kept unless its kind is listed as internal', () => {
    const { prototype } = baileys.proto.Message as unknown as { prototype: Message };
    const kinds = Object.keys(prototype).filter((name) => typeof prototype[name as keyof Message] !== 'function');
    assert.ok(kinds.length > 90, `${kinds.length} kinds`);
    for (const kind of INTERNAL_KINDS) assert.ok(kinds.includes(kind), `${kind} is a kind of the protocol`);
    for (const kind of kinds as (keyof Message)[]) {
      const part = kind === 'conversation' ? 'hello' : {};
      const content = parse({ [kind]: part } as Message)?.content;
      // A message with nothing else is of a kind that the decoder left out.
      const isHidden = INTERNAL_KINDS.has(kind) && kind !== 'messageContextInfo';
      assert.equal(content === undefined, isHidden, kind);
      if (kind === 'messageContextInfo') continue;
      if (content !== undefined && READERS[kind] === undefined) assert.equal(content.rawType, kind);
    }
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
        facts: {},
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
    const cases: [message: Message, name: string, phoneNumbers: string[], cards?: ContactCard[]][] = [
      [{ contactMessage: { displayName: 'Annie', vcard: ann } }, 'Annie', ['491701111111']],
      [{ contactMessage: { vcard: ann } }, 'Ann', ['491701111111']],
      [{ contactMessage: { vcard: ann.replaceAll('\n', '\r\n') } }, 'Ann', ['491701111111']],
      [{ contactMessage: { vcard: ann.replace('1111111:', '111\n 1111:') } }, 'Ann', ['491701111111']],
      [{ contactMessage: { vcard: bob } }, 'Bob', ['491702222222']],
      [
        { contactsArrayMessage: { contacts: [{ vcard: ann }, {}, { vcard: bob }] } },
        'Ann',
        ['491701111111', '491702222222'],
        [
          { name: 'Ann', phoneNumbers: ['491701111111'] },
          { name: 'Bob', phoneNumbers: ['491702222222'] },
        ],
      ],
      [{ contactMessage: {} }, '', []],
      [{ contactMessage: { vcard: 'nonsense' } }, '', []],
    ];
    for (const [message, name, phoneNumbers, contacts] of cases) {
      const several = contacts && { contacts };
      assert.deepEqual(parse(message)?.content, {
        type: 'contact',
        text: '',
        contact: { name, phoneNumbers },
        ...several,
      });
    }
  });
});

/** https://github.com/evolution-foundation/evolution-api/issues/1252 and WhiskeySockets/Baileys/issues/2354 */
describe('the ad before a WhatsApp message', () => {
  const read = (contextInfo: proto.IContextInfo) =>
    parse({ extendedTextMessage: { text: 'Hello', contextInfo } })?.content.referral;

  it('is read from the context of any message', () => {
    const externalAdReply = {
      title: 'Chat with us',
      body: 'Summer succulents',
      mediaUrl: 'https://www.facebook.com/1/videos/2/',
      thumbnailUrl: 'https://scontent.xx.fbcdn.net/v/t15',
      sourceType: 'ad',
      sourceId: '120226305854810726',
      sourceUrl: 'https://fb.me/3cr4Wqqkv',
      ctwaClid: 'Aff-n8ZTODiE',
    };
    const parts = {
      adId: '120226305854810726',
      url: 'https://fb.me/3cr4Wqqkv',
      headline: 'Chat with us',
      body: 'Summer succulents',
      clickId: 'Aff-n8ZTODiE',
      mediaUrl: 'https://www.facebook.com/1/videos/2/',
    };
    assert.deepEqual(read({ externalAdReply }), { ...parts, entryPoint: 'ad' });
    const entryPointConversionSource = 'ctwa_ad';
    const contextInfo = { externalAdReply, entryPointConversionSource };
    assert.deepEqual(read(contextInfo), { ...parts, entryPoint: 'ctwa_ad' });
    const picture = parse({ imageMessage: { ...file, contextInfo } })?.content.referral;
    assert.deepEqual(picture, { ...parts, entryPoint: 'ctwa_ad' });
  });

  it('is known only by its entry point when the rest is sealed for the phone', () => {
    const sealed = { entryPointConversionSource: 'ctwa_ad', ctwaPayload: bytes(40), conversionData: bytes(40) };
    assert.deepEqual(read(sealed), { entryPoint: 'ctwa_ad' });
  });

  it('is neither a link preview nor a chat that began otherwise', () => {
    assert.equal(read({ externalAdReply: { title: 'A bot', showAdAttribution: true } }), undefined);
    assert.equal(read({ entryPointConversionSource: 'click_to_chat_link' }), undefined);
    assert.equal(read({ externalAdReply: {} }), undefined);
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
      [{}, true],
    ];
    for (const [message, concerns] of cases)
      assert.equal(concernsPeople(baileys, message), concerns, JSON.stringify(message));
  });
});
