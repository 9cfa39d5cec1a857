import { object, onlyTrue, string } from '../../invoke/input/fields.ts';
import { ref } from '../../invoke/input/references.ts';
import { defineOperation } from '../../invoke/operation.ts';
import { OptionalSessionId } from '../shared/sessionFields.ts';

export const rejectCall = defineOperation({
  id: 'calls.reject',
  route: 'POST /calls/{callId}/reject',
  approval: 'free',
  owner: { field: 'sessionId' },
  permission: 'chats:write',
  scope: 'sessionId',
  effect: 'write',
  summary: 'Reject a call',
  description:
    'Reject a call that rings. The event `call.incoming` has its id. To reject all calls of a session, set its option `calls`.',
  input: {
    callId: string('Id of the call, from the event `call.incoming`.', {
      ...ref('other'),
      minLength: 1,
      maxLength: 200,
    }),
    sessionId: OptionalSessionId,
  },
  output: object({ callId: string('Id of the call.'), rejected: onlyTrue() }),
  errors: ['not_found', 'session_required', 'session_not_connected', 'send_failed', 'not_supported'],
  async run(ctx, { callId }) {
    const { session } = ctx;
    const reject = await ctx.liveSessions.part(session, 'rejectCall');
    await reject({ callId });
    return { callId, rejected: true as const };
  },
});
