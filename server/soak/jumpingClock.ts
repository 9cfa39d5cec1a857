import { readFileSync } from 'node:fs';

/*
 * Loaded into a server by `--import`: its wall clock is off by as many milliseconds as the file that SOAK_CLOCK names
 * says, and jumps when that changes. Timers and `performance.now()` go on, as they do when somebody sets a clock.
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
