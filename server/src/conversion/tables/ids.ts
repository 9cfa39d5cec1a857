import type { Names } from '../description.ts';

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/**
 * Returns SQL for the number of some characters of an id, in base 32.
 * @param at SQL of the place of the first one
 */
function idNumber({ database }: Names, id: string, at: string, digits: number): string {
  const find = database === 'sqlite' ? 'instr' : 'strpos';
  const most = database === 'sqlite' ? 'max' : 'greatest';
  const sum = Array.from({ length: digits }, (_, index) => {
    const digit = `${find}('${ALPHABET}', substr(${id}, ${at} + ${index}, 1))`;
    return `${most}(0, ${digit} - 1) * ${32 ** (digits - 1 - index)}`;
  });
  return `(${sum.join(' + ')})`;
}

/** The same as `hashOfId`, in SQL. */
export const idHash = (names: Names, id: string): string => idNumber(names, id, `length(${id}) - 5`, 6);

/** The same as `timeOfId`, in SQL, for ids with a prefix of three letters. */
export const idTime = (names: Names, id: string): string => idNumber(names, id, '5', 10);
