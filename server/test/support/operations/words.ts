const SYLLABLES = 'ba co di fu ge ha jo ki lu me na po ri su te va wo xi yu ze'.split(' ');

/** Returns the n-th word of a vocabulary. Consecutive words start differently. */
export function spelled(n: number): string {
  const size = SYLLABLES.length;
  return [n % size, Math.floor(n / size) % size, Math.floor(n / size ** 2) % size, Math.floor(n / size ** 3)]
    .map((index) => SYLLABLES[index])
    .join('');
}
