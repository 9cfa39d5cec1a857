import assert from 'node:assert/strict';
import { it } from 'node:test';
import { readSettings } from '../../../src/config.ts';
import { AppError } from '../../../src/errors.ts';
import { explainStart } from '../../../src/startErrors.ts';

const settings = readSettings({
  PORT: '8080',
  DATA_DIR: '/srv/switchboard',
  MEDIA_DIR: '/srv/files',
  DATABASE_URL: 'postgres://ann:hunter2@db.example.com:6432/gate',
});
const onSqlite = { ...settings, databaseUrl: '' };
const failure = (code: string, more: object = {}) => Object.assign(new Error(`${code}: it failed`), { code, ...more });

it('names the setting, the problem and a remedy', () => {
  for (const [error, ...expected] of [
    [failure('EADDRINUSE', { syscall: 'listen' }), /^PORT: another program already uses port 8080/, /set PORT/],
    [failure('EACCES', { syscall: 'listen' }), /^PORT: .*may not listen on port 8080/],
    [failure('EADDRNOTAVAIL', { syscall: 'listen' }), /^HOST: 127\.0\.0\.1 is not an address of this machine/],
    [failure('EACCES', { path: '/srv/switchboard/switchboard.lock' }), /^DATA_DIR: .*no permission/, /Set DATA_DIR/],
    [failure('EROFS', { path: '/srv/files/incoming' }), /^MEDIA_DIR: .*read-only/, /Set MEDIA_DIR/],
    [failure('ECONNREFUSED'), /^DATABASE_URL: PostgreSQL at db\.example\.com:6432 refused/, /is running/],
    [failure('ENOTFOUND', { syscall: 'getaddrinfo', hostname: 'db.example.com' }), /^DATABASE_URL: .*unknown/],
    [failure('28P01'), /^DATABASE_URL: .*rejected the login: 28P01: it failed/, /password/],
    [failure('3D000'), /^DATABASE_URL: .*no database "gate"/, /createdb gate/],
    [failure('42501'), /^DATABASE_URL: .*permission/, /"ann"/],
    [new Error('timeout exceeded when trying to connect'), /^DATABASE_URL: .*did not answer/],
    [new Error('The server does not support SSL connections'), /^DATABASE_URL: .*TLS/, /sslmode/],
    [new AppError('storage_unavailable', undefined, { cause: failure('57P03') }), /^DATABASE_URL: .*not ready/],
  ] as const) {
    const text = explainStart(error, settings);
    for (const pattern of expected) assert.match(text, pattern);
    assert.ok(!text.includes('hunter2') && !text.includes('    at '), text);
  }
  const unknownHost = failure('ENOTFOUND', { syscall: 'getaddrinfo', hostname: '127.0.0.1' });
  assert.match(explainStart(unknownHost, onSqlite), /^HOST: .*unknown/);
  assert.match(explainStart(failure('ERR_SQLITE_ERROR'), onSqlite), /^DATA_DIR: .*\/srv\/switchboard/);
});

it('blames a folder or PostgreSQL only for errors of its own', () => {
  const beside = explainStart(failure('EACCES', { path: '/srv/files2/a' }), settings);
  assert.match(beside, /^The server cannot use \/srv\/files2\/a:/);
  for (const error of [
    failure('EMFILE', { syscall: 'socket' }),
    failure('ECONNREFUSED', { syscall: 'connect', address: '192.0.2.1', port: 9000 }),
    failure('ENOTFOUND', { syscall: 'getaddrinfo', hostname: 'files.example.com' }),
  ])
    assert.match(explainStart(error, settings), / {4}at /);
  for (const error of [
    failure('ECONNRESET', { syscall: 'read' }),
    failure('EHOSTUNREACH', { syscall: 'connect', address: '192.0.2.1', port: 6432 }),
  ])
    assert.match(explainStart(error, settings), /^DATABASE_URL: PostgreSQL at db\.example\.com:6432 cannot be reached/);
});

it('repeats a database URL with an invalid code as it is', () => {
  const odd = { ...settings, databaseUrl: 'postgres://a%zz:hunter2@db.example.com/gate' };
  assert.match(explainStart(failure('42501'), odd), /"a%zz" the owner/);
});

it('shows the stack trace of a bug', () => {
  for (const used of [settings, onSqlite, undefined])
    assert.match(explainStart(new TypeError('oops'), used), / {4}at /);
});
