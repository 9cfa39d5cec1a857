import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Listeners } from '../src/live/listeners.ts';

it('calls every listener when one throws, and reports the error', (test) => {
  const reported: unknown[] = [];
  // Node lacks it.
  globalThis.reportError = (error) => reported.push(error);
  test.after(() => Reflect.deleteProperty(globalThis, 'reportError'));
  const listeners = new Listeners<string>();
  const heard: string[] = [];
  const failure = new Error('of a listener');
  listeners.add((value) => heard.push(`first ${value}`));
  listeners.add(() => {
    throw failure;
  });
  const remove = listeners.add((value) => heard.push(`last ${value}`));
  listeners.notify('one');
  remove();
  listeners.notify('two');
  assert.deepEqual(heard, ['first one', 'last one', 'first two']);
  assert.deepEqual(reported, [failure, failure]);
});
