import { createSignedPost, eventId } from './signedPost.ts';

/*
 * The peer of a delivery: a loop that only signs the product's body and posts it with the product's headers through the
 * same undici pool, with the same concurrency.
 */
const { TARGET = '', CONCURRENCY = '', TOTAL = '' } = process.env;
process.on('SIGTERM', () => process.exit(0));
const { body, post } = await createSignedPost(TARGET);
process.stdout.write('http://127.0.0.1:0\n'); // listens on nothing; the harness waits for a line
let left = Number(TOTAL);
await Promise.all(
  Array.from({ length: Number(CONCURRENCY) }, async () => {
    while (left-- > 0) await post(eventId(left), body);
  }),
);
setInterval(() => {}, 60_000); // its CPU time is read until it is stopped
