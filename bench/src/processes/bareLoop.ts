import { body, createSignedPost } from './signedPost.ts';

/*
 * The bare limit of a delivery: a loop that only signs a body like the product and posts it through the same undici
 * pool, with the same concurrency.
 */
const { TARGET = '', CONCURRENCY = '', TOTAL = '' } = process.env;
process.on('SIGTERM', () => process.exit(0));
process.stdout.write('http://127.0.0.1:0\n'); // listens on nothing; the harness waits for a line
const post = createSignedPost(TARGET);
let left = Number(TOTAL);
await Promise.all(
  Array.from({ length: Number(CONCURRENCY) }, async () => {
    while (left-- > 0) await post(`evt_${left}`, body);
  }),
);
setInterval(() => {}, 60_000); // its CPU time is read until it is stopped
