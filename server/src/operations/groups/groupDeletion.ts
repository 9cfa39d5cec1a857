import { AppError } from '../../errors.ts';
import { object, onlyTrue } from '../../invoke/input/fields.ts';
import { defineOperation } from '../../invoke/operation.ts';
import { requireRecipient } from '../../invoke/recipients.ts';
import { changing, GroupId, reachGroup } from './groups.ts';

export const deleteGroup = defineOperation({
  id: 'groups.delete',
  route: 'DELETE /groups/{groupId}',
  ...changing,
  summary: 'Delete a group',
  description:
    'Delete a group for everyone, on networks with the capability `group_delete`. All participants are removed, and nobody can write to it. Stored messages stay readable. On other networks, remove the participants and leave the group.',
  input: { groupId: GroupId },
  output: object({ groupId: GroupId, deleted: onlyTrue() }),
  async run(ctx, { groupId }) {
    const { row, groups } = await reachGroup(ctx, groupId);
    requireRecipient(ctx, groupId);
    await ctx.liveSessions.requireCapability({ accountId: ctx.accountId, sessionId: row.session_id }, 'group_delete');
    if (groups.remove === undefined) throw new AppError('not_supported');
    await groups.remove(row.network_id);
    return { groupId, deleted: true as const };
  },
});
