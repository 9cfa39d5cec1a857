import { closeSync, openSync } from 'node:fs';
import { PasswordHasher } from '../../../src/auth/passwords.ts';
import { Converter } from '../../../src/media/conversion/converter.ts';
import { eventually } from '../eventually.ts';
import { picture } from '../media/media.ts';

/* Uses up the files that this process may open, and prints what a conversion and a login then return. */

const converter = new Converter();
const passwords = new PasswordHasher();
const rule = { mimeTypes: ['image/png'], maxBytes: 1_000_000 };
const convert = () =>
  converter.prepare('acc_1', { purpose: 'image', rule, mimeType: 'image/png' }, async () => picture());
const codeOf = (work: Promise<unknown>) => work.then(String, ({ code, message }) => code ?? message);

const held: number[] = [];
try {
  for (;;) held.push(openSync('/dev/null', 'r'));
} catch {
  // EMFILE
}
const [image, password] = await Promise.all([codeOf(convert()), codeOf(passwords.hash('correct horse', '192.0.2.1'))]);
for (const file of held) closeSync(file);
const later = [
  await eventually(
    () => convert().then(Boolean, () => false),
    (isDone) => isDone,
  ),
  await eventually(
    () => passwords.hash('correct horse', '192.0.2.1').then(Boolean, () => false),
    (isDone) => isDone,
  ),
];
process.stdout.write(JSON.stringify({ image, password, later }));
converter.stop();
await passwords.stop();
