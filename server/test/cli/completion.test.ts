import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { shells } from '../../src/cli/completion.ts';
import { cli, newPerson } from './support.ts';

const hasProgram = (name: string) =>
  (process.env['PATH'] ?? '').split(delimiter).some((folder) => existsSync(join(folder, name)));

/** Words before the cursor, and what completes the last one. */
const cases: readonly [words: readonly string[], expected: readonly string[]][] = [
  [
    ['switchboard', 'se'],
    ['send', 'sessions'],
  ],
  [
    ['switchboard', 'sessions', ''],
    ['connect', 'create', 'delete', 'disconnect', 'get', 'list', 'logout', 'restart'],
  ],
  [
    ['switchboard', '--json', '--profile', 'list', 'sessions', 'c'],
    ['connect', 'create'],
  ],
  [
    ['switchboard', 'send', '491707654321', '--wait', ''],
    ['delivered', 'read', 'sent'],
  ],
  [['switchboard', 'send', '--wa'], ['--wait']],
  [['switchboard', 'listen', '--forward'], ['--forward-to']],
  [['switchboard', 'messages', '--direction', 'in'], ['incoming']],
  [
    ['switchboard', 'completion', ''],
    ['bash', 'fish', 'zsh'],
  ],
  [['switchboard', 'admin', 'r'], ['reset-password']],
];

describe('switchboard completion', () => {
  let folder: string;
  const person = newPerson();
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'switchboard-completion-'));
    for (const shell of shells) {
      const { code, stdout } = await cli(person, ['completion', shell]);
      assert.equal(code, 0);
      writeFileSync(join(folder, shell), stdout);
    }
  });
  after(() => {
    rmSync(folder, { recursive: true });
    person.remove();
  });
  const run = (shell: string, ...args: string[]) =>
    execFileSync(shell, args, { encoding: 'utf8', env: { PATH: process.env['PATH'], HOME: folder, TERM: 'dumb' } });

  it('completes in bash', { skip: !hasProgram('bash') && 'bash is not installed' }, () => {
    const script = `source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
      _switchboard; printf '%s\\n' "\${COMPREPLY[@]}"`;
    for (const [words, expected] of cases) {
      const found = run('bash', '-c', script, 'bash', join(folder, 'bash'), ...words);
      assert.deepEqual(found.trim().split('\n').toSorted(), expected, words.join(' '));
    }
  });

  it('completes in fish', { skip: !hasProgram('fish') && 'fish is not installed' }, () => {
    for (const [words, expected] of cases) {
      const found = run('fish', '-c', `source ${join(folder, 'fish')}; complete -C "$argv"`, words.join(' '));
      const names = found
        .trim()
        .split('\n')
        .map((line) => line.split('\t')[0]);
      assert.deepEqual(names.toSorted(), expected, words.join(' '));
    }
  });

  it('completes in zsh', { skip: !hasProgram('zsh') && 'zsh is not installed' }, () => {
    // The functions of zsh's completion are replaced by ones that print what they are given.
    const script = `compdef() { }; source "$1"; shift
      print_matching() { for c in "$@"; do [[ "$c" == "$words[CURRENT]"* ]] && print -r -- "\${c%%:*}"; done }
      _describe() { print_matching "\${(@P)2}" }; compadd() { shift; print_matching "$@" }; _default() { }
      words=("$@"); CURRENT=$#words; _switchboard; true`;
    for (const [words, expected] of cases) {
      const found = run('zsh', '-f', '-c', script, 'zsh', join(folder, 'zsh'), ...words);
      assert.deepEqual(found.trim().split('\n').toSorted(), expected, words.join(' '));
    }
  });

  it('refuses an unknown shell', async () => {
    const { code, stderr } = await cli(person, ['completion', 'cmd']);
    assert.deepEqual([code, /Allowed choices are bash, zsh, fish/.test(stderr)], [2, true]);
  });
});
