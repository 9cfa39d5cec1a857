import { Lamp, type LampTone } from '../components/lamp.tsx';
import { useLiveState } from '../live/live.ts';
import type { LiveState } from '../live/protocol.ts';
import { shellStrings } from './strings.ts';

const tones: Readonly<Record<LiveState, LampTone>> = { live: 'good', connecting: 'busy', lost: 'bad' };

/** Whether the pages receive live events. */
export function LiveIndicator() {
  const state = useLiveState();
  return (
    <div role="status" className="px-2.5 text-xs text-ink-soft">
      <Lamp tone={tones[state]}>{shellStrings.live[state]}</Lamp>
    </div>
  );
}
