import assert from 'node:assert/strict';
import { it } from 'node:test';
import { activitySearch } from '../src/pages/apiKeys/activitySearch.ts';
import { chatSearch } from '../src/pages/chats/search.ts';
import { deliveryFilters } from '../src/pages/deliveries/filters.ts';
import { parseSearch, stringifySearch } from '../src/searchParams.ts';

const AD = '120210000000000123';

it('keeps all digits of ids and phone numbers in an address', () => {
  const { ads, adId, chat } = chatSearch(parseSearch(`?ads=true&adId=${AD}&chat=${AD}`));
  assert.deepEqual([ads, adId, chat], [true, AD, AD]);
  assert.equal(deliveryFilters(parseSearch(`?chatId=${AD}`)).chatId, AD);
  assert.equal(activitySearch(parseSearch('?tool=007')).tool, '007');
});

it('reads quoted values of older links', () => {
  assert.equal(chatSearch(parseSearch(`?ads=true&adId=%22${AD}%22`)).adId, AD);
});

it('writes an address that it reads as the same parameters', () => {
  for (const value of [
    AD,
    '491701234567',
    'true',
    '"quoted"',
    '"',
    '""',
    '"a"b"',
    '1e5',
    'grp_1',
    '',
    ' ä&=+%',
    '{"a":1}',
  ])
    assert.deepEqual(parseSearch(stringifySearch({ value, left: undefined })), { value });
  assert.equal(stringifySearch({ ads: true, adId: AD }), `?ads=true&adId=${AD}`);
  assert.equal(stringifySearch({ chat: undefined }), '');
});
