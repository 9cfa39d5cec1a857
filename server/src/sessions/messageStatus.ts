/** How far an outgoing message has come only moves forward: queued → sent → delivered → read, or failed. */
const STEPS = ['sent', 'delivered', 'read'] as const;
type Step = (typeof STEPS)[number];

/**
 * The steps from `current` to `target`, each of which is an event: networks confirm out of order, and a message that
 * was read has been sent and delivered, whether or not anybody said so. Empty when there is nothing to move.
 */
export function stepsBetween(current: string, target: Step): readonly Step[] {
  if (current === 'failed') return [];
  // −1 for what is none of the steps, so has not been sent: all of them are still ahead.
  const done = STEPS.indexOf(current as Step);
  return STEPS.slice(done + 1, STEPS.indexOf(target) + 1);
}
