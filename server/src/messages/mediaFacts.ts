import type { MediaFacts } from '../connectors/contract/media.ts';

const MAX_PIXELS = 100_000;
const MAX_SECONDS = 48 * 3600;
const WAVEFORM_VALUES = 64;
const MAX_LOUDNESS = 100;

/**
 * Returns those facts about a received file that are possible: a modified app of the network can state anything.
 * Undefined if there are none.
 */
export function statedFacts({ width, height, durationSeconds, waveform }: MediaFacts = {}): MediaFacts | undefined {
  const facts: MediaFacts = {
    ...(isCount(width, MAX_PIXELS) && isCount(height, MAX_PIXELS) && { width, height }),
    ...(isCount(durationSeconds, MAX_SECONDS) && { durationSeconds }),
    ...(isWaveform(waveform) && { waveform: [...waveform] }),
  };
  return Object.keys(facts).length === 0 ? undefined : facts;
}

const isCount = (value: number | undefined, max: number): value is number =>
  value !== undefined && Number.isInteger(value) && value > 0 && value <= max;

const isWaveform = (values: MediaFacts['waveform']): values is readonly number[] =>
  values?.length === WAVEFORM_VALUES && values.every((value) => value === 0 || isCount(value, MAX_LOUDNESS));
