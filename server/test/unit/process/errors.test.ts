import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AppError, asAppError, toProblem } from '../../../src/errors.ts';

// The query makes it another module. In a variable, because the compiler would look for a file of that name.
const copy = '../../../src/errors.ts?copy';
const kit: typeof import('../../../src/errors.ts') = await import(copy);

class OwnError extends AppError {}
class OtherError extends AppError {}

describe('AppError', () => {
  it('recognizes the errors of another copy of its class', () => {
    assert.notEqual(kit.AppError, AppError);
    const error: unknown = new kit.AppError('rate_limited', 'Slow down', { retryAfterSeconds: 5 });
    assert.ok(error instanceof AppError);
    assert.deepEqual([error.code, error.retryAfterSeconds, error.status], ['rate_limited', 5, 429]);
    const { status, code, detail } = toProblem(error, 'req_1');
    assert.deepEqual([status, code, detail], [429, 'rate_limited', 'Slow down']);
  });

  it('does not recognize anything else', () => {
    const newer = Object.assign(new kit.AppError('not_found', 'a secret'), { code: 'code_of_a_newer_kit' });
    const alike = Object.assign(new Error('a secret'), { code: 'not_found' });
    for (const other of [newer, alike, new Error('a secret'), { code: 'not_found' }, 'not_found', null, undefined]) {
      assert.ok(!(other instanceof AppError));
      assert.equal(toProblem(other, 'req_1').code, 'internal_error');
    }
  });

  it('asks callers to try again at the limit of open files, without naming a file', () => {
    const crowded = Object.assign(new Error("EMFILE: too many open files, open '/data/a secret'"), { code: 'EMFILE' });
    const { status, code, detail } = toProblem(crowded, 'req_1');
    assert.deepEqual([status, code], [503, 'too_busy']);
    assert.doesNotMatch(detail, /secret/);
    assert.ok(Number(asAppError(crowded).retryAfterSeconds) > 0);
  });

  it('tells its subclasses apart', () => {
    const error = new OwnError('not_found');
    assert.deepEqual(
      [error instanceof AppError, error instanceof OwnError, error instanceof OtherError],
      [true, true, false],
    );
    assert.ok(!(new AppError('not_found') instanceof OwnError));
  });
});
