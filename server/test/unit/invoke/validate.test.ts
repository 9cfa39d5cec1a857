import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type TObject, Type } from 'typebox';
import type { AppError } from '../../../src/errors.ts';
import { patternWords } from '../../../src/invoke/input/patterns.ts';
import { validator } from '../../../src/invoke/input/validate.ts';
import { operations } from '../../../src/operations/index.ts';

const inputOf = (id: string): TObject => {
  const found = operations.find((operation) => operation.id === id);
  assert.ok(found, id);
  return found.input;
};
/** The first error of an input, and how many of its members were read before it. */
function refuse(id: string, input: object): { field: string | undefined; code: string | undefined; reads: number } {
  let reads = 0;
  const watched = <T extends object>(value: T): T =>
    new Proxy(value, {
      get(target, name) {
        if (typeof name === 'string') reads++;
        const member: unknown = Reflect.get(target, name);
        return typeof member === 'object' && member !== null ? watched(member) : member;
      },
    });
  try {
    validator(inputOf(id))(watched(input));
  } catch (error) {
    const [first] = (error as AppError).fields;
    return { field: first?.field, code: first?.code, reads };
  }
  throw new Error('it was accepted');
}

/** All patterns of texts in a schema, at any depth; not those of the names of fields. */
function patternsIn(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const own = 'type' in schema && 'pattern' in schema && typeof schema.pattern === 'string' ? [schema.pattern] : [];
  return [...own, ...Object.values(schema).flatMap(patternsIn)];
}

const wide = Object.fromEntries(Array.from({ length: 5000 }, (_, n) => [`field${n}`, 1]));

describe('input validation', () => {
  it('rejects oversized input without checking all of it', () => {
    const cases: [id: string, input: object, field: string, code: string][] = [
      ['auth.login', wide, 'body', 'width'],
      ['sessions.create', { metadata: wide }, 'metadata', 'width'],
      ['sessions.create', { options: wide }, 'options', 'width'],
      ['sessions.create', { options: { deep: [wide] } }, 'options.deep.0', 'width'],
      ['messages.send_bulk', { to: Array(5000).fill(1), message: 'x' }, 'to', 'maxItems'],
      ['messages.send_interactive', { to: '1', buttons: [wide] }, 'buttons.0', 'width'],
      ['messages.send_interactive', { list: { rows: Array(5000).fill(1) } }, 'list.rows', 'maxItems'],
    ];
    for (const [id, input, field, code] of cases) {
      const found = refuse(id, input);
      assert.deepEqual([found.field, found.code], [field, code], id);
      assert.ok(found.reads < 50, `${found.reads} reads at ${field} of ${id}`);
    }
  });

  it('reports an invalid phone number together with other invalid fields', () => {
    const refused = (id: string, input: object) => {
      try {
        validator(inputOf(id))(input);
      } catch (error) {
        return (error as AppError).fields.map(({ field, code }) => [field, code]);
      }
      return [];
    };
    assert.deepEqual(refused('messages.send', { to: 'hello', message: '' }), [
      ['to', 'phone_number'],
      ['message', 'minLength'],
    ]);
    assert.deepEqual(refused('messages.list', { starred: false }), [['starred', 'const']]);
    assert.deepEqual(refused('sessions.create', { phoneNumber: '12', name: '', other: 1 }), [
      ['other', 'unknown'],
      ['name', 'minLength'],
      ['phoneNumber', 'phone_number'],
    ]);
    assert.deepEqual(refused('groups.create', { subject: '', phoneNumbers: ['+49 170 7654321', 'x', 5] }), [
      ['subject', 'minLength'],
      ['phoneNumbers.1', 'phone_number'],
      ['phoneNumbers.2', 'type'],
    ]);
    assert.deepEqual(refused('messages.send', { to: 'grp_1', message: 'x' }), []);
  });

  const validators = new Map<string, ReturnType<typeof validator>>();
  const detailOf = (id: string, input: object): string => {
    const validate = validators.get(id) ?? validator(inputOf(id));
    validators.set(id, validate);
    try {
      validate(input);
    } catch (error) {
      return (error as AppError).message;
    }
    return '';
  };

  it('says what was expected instead', () => {
    const to = '491701234567';
    for (const [id, input, detail] of [
      [
        'messages.send',
        { to: 5, message: null },
        'to must be a string, not a number; message must be a string, not null',
      ],
      ['messages.send', { to, message: '' }, 'message must not be empty'],
      ['messages.send', { to, message: 'x', mentions: 'all' }, 'mentions must be a list of strings, not "all"'],
      [
        'messages.send',
        { to: 'hello', message: 'x' },
        'to must be a phone number in international form, such as 491701234567, or the id of a group (grp_…), not "hello": it contains letters',
      ],
      ['messages.list', { limit: 0 }, 'limit must be from 1 to 200'],
      ['messages.list', { limit: 1.5 }, 'limit must be a whole number from 1 to 200, not 1.5'],
      ['messages.list', { limit: 'ten' }, 'limit must be a whole number from 1 to 200, not "ten"'],
      ['messages.send_poll', { to, question: 'x', options: ['a'] }, 'options must have at least 2 items'],
      [
        'messages.send_poll',
        { to, question: 'x', options: ['a', 'a'] },
        'options must not contain the same item twice',
      ],
      ['webhooks.set', { webhookUrl: 'https://x', events: [] }, 'events must not be an empty list'],
      [
        'auth.register',
        { email: 'x', password: 'x'.repeat(12) },
        'email must be an email address, such as you@example.com',
      ],
      [
        'webhooks.endpoints.create',
        { webhookUrl: 'https://x', events: ['message.sent'], retrySeconds: 'soon' },
        'retrySeconds must be null or a list of whole numbers from 1 to 604800, not "soon"',
      ],
      [
        'webhooks.endpoints.create',
        { webhookUrl: 'https://x', events: ['message.sent'], retrySeconds: [5, '1m'] },
        'retrySeconds.1 must be a whole number from 1 to 604800, not "1m"',
      ],
      [
        'api_keys.create',
        { name: 'x', confirm: 'all' },
        'confirm must be null or a list of values from destructive, new_recipients, not "all"',
      ],
      ['api_keys.create', { name: 'x'.repeat(101) }, 'name must have at most 100 characters'],
      [
        'api_keys.create',
        { name: 'x', expiresAt: 'tomorrow' },
        'expiresAt must be null or a time with an offset, such as 2026-07-01T12:00:00Z or 2026-07-01T14:00:00+02:00',
      ],
      ...['2026-02-30T00:00:00Z', '2026-07-01t24:30:00.5+02:00'].map(
        (sendAt) =>
          [
            'messages.send',
            { to, message: 'x', sendAt },
            'sendAt must be a date and time that exists, such as 2026-07-01T12:00:00Z',
          ] as const,
      ),
      [
        'groups.update',
        { groupId: 'grp_1', settings: { announce: 'yes' } },
        'settings.announce must be true or false, not "yes"',
      ],
      ['api_keys.create', { name: 'x', allowedIps: ['::1', 5] }, 'allowedIps.1 must be a string, not a number'],
      [
        'webhooks.endpoints.update',
        { webhookId: 'whk_1', headers: { a: 5 } },
        'headers.a must be a string, not a number',
      ],
      ['sessions.create', { metadata: 5 }, 'metadata must be an object, not a number'],
      ['sessions.create', { metadata: { team: 5 } }, 'metadata.team must be a string, not a number'],
    ] as const)
      assert.equal(detailOf(id, input), detail, JSON.stringify(input));
  });

  it('says in words what a text has to look like, for every pattern of an input', () => {
    const patterns = operations.flatMap(({ id, input }) =>
      patternsIn(input).map((pattern) => [`${id} ${pattern}`, pattern] as const),
    );
    assert.ok(patterns.length >= 10);
    for (const [place, pattern] of patterns)
      assert.match(
        patternWords.get(pattern) ?? '',
        /^(?:an? |the |in )/,
        `invoke/input/patterns.ts has no words for ${place}`,
      );
    const sessionId = 'ses_1';
    for (const [id, input, detail] of [
      [
        'templates.list',
        { sessionId, status: 'APPROVED' },
        'status must be in small letters and underscores, such as approved',
      ],
      ['templates.list', { sessionId, language: 'en-US' }, 'language must be a language, such as en or en_US'],
      [
        'templates.get',
        { sessionId, templateId: 'a/b' },
        'templateId must be the id of a template, of letters, digits, hyphens and underscores',
      ],
      ['status.post', { message: 'x', backgroundColor: 'red' }, 'backgroundColor must be a color, such as #1F6F5C'],
      [
        'sessions.update_profile',
        { sessionId, business: { websites: ['ftp://a.example'], vertical: 'tea' } },
        'business.websites.0 must be a URL that begins with http:// or https://; ' +
          'business.vertical must be in capital letters and underscores, such as RETAIL',
      ],
    ] as const)
      assert.equal(detailOf(id, input), detail);
  });

  it('quotes the description of an option whose network has a pattern of its own', () => {
    const option = (rules: object) =>
      validator(Type.Object({ gateway: Type.String({ pattern: '^[a-z]+$', ...rules }) }));
    const read = (rules: object) => () => option(rules)({ gateway: '5' });
    assert.throws(read({ description: 'Only the name of a gateway. No address.' }), {
      message: 'gateway does not have the right form: Only the name of a gateway',
    });
    assert.throws(read({}), /^AppError: gateway must match pattern/);
  });

  it('uses no words of the schema library, for any wrong value of any field', () => {
    const jargon =
      /schema|anyOf|oneOf|[<>]=|pattern|additional|must be (?:string|array|object|integer|number|boolean)\b|undefined/;
    const wrong = [
      null,
      true,
      -1,
      1.5,
      1e12,
      '',
      'x',
      'x'.repeat(100_000),
      [],
      [null],
      ['x', 'x'],
      {},
      { x: { x: 1 } },
    ];
    let count = 0;
    for (const { id, input } of operations)
      for (const name of [...Object.keys(input.properties), 'unknown'])
        for (const value of wrong) {
          const detail = detailOf(id, { [name]: value });
          if (detail !== '') count++;
          assert.doesNotMatch(detail, jargon, `${id} ${name}`);
          assert.ok(detail.length < 5000, `${id} ${name}`);
        }
    assert.ok(count > 1000);
  });
});
