import { readFileSync } from 'node:fs';
import { Converter } from '../../../src/media/conversion/converter.ts';
import { wavOf } from './sampleMedia.ts';

/* Converts an hour of audio, and prints the id of the process that does it once that is busy. Linux only. */

const converter = new Converter();
const voice = { purpose: 'voice', rule: { maxBytes: 1e9 }, mimeType: 'audio/wav' } as const;
void converter.prepare('acc_1', voice, async () => {
  const children = readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8');
  // After this turn of the event loop the process has the file.
  setTimeout(() => process.stdout.write(children.trim()), 1000);
  return wavOf(3500, undefined, 4000);
});
