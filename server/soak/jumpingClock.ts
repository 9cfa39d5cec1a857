import { readFileSync } from 'node:fs';

/*
 * Loaded into a server with `--import`. Offsets its wall clock by the milliseconds in the file SOAK_CLOCK, and jumps
 * when that changes. Timers and `performance.now()` continue, as they do when an administrator sets the clock.
 */

const LOOK_MS = 50;
const file = process.env['SOAK_CLOCK'];
const realNow = Date.now.bind(Date);
let offsetMs = 0;

function look(): void {
  if (file !== undefined) offsetMs = Number(readFileSync(file, 'utf8')) || 0;
}

look();
setInterval(look, LOOK_MS).unref();
Date.now = () => realNow() + offsetMs;
