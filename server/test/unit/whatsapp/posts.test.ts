import assert from 'node:assert/strict';
import { it } from 'node:test';
import * as baileys from 'baileys';
import { postOf } from '../../../src/connectors/whatsapp/inbound/posts.ts';

const { Message } = baileys.proto;

function read(directPath: string) {
  const imageMessage = { directPath, fileSha256: new Uint8Array(32).fill(7), mimetype: 'image/jpeg' };
  const content = Buffer.from(Message.encode(Message.fromObject({ imageMessage })).finish());
  const attrs = { id: 'post', t: '1700000000' };
  return postOf(baileys, { tag: 'message', attrs, content: [{ tag: 'plaintext', attrs: {}, content }] });
}

it('a post has a file only at a path of the media host', () => {
  assert.equal(read('/v/t62.7118-24/1_n.enc?oh=01')?.file?.directPath, '/v/t62.7118-24/1_n.enc?oh=01');
  for (const path of ['@example.com/', '.example.com/', '/a b', '/a\r\nHost: b', '/\\example.com', '/ä'])
    assert.equal(read(path)?.file, undefined, path);
});
