import { type BinaryOperationNode, OperatorNode, PrimitiveValueListNode, ValueListNode } from 'kysely';

/**
 * The SQL constant for a comparison with an empty list. PostgreSQL rejects `in ()` and SQLite accepts it, so tests on
 * SQLite miss it. Kysely's plugin for this transforms the whole statement, which takes ten times as long as building
 * it.
 * @returns undefined for every other comparison
 */
export function comparedWithNothing({ operator, rightOperand: list }: BinaryOperationNode): string | undefined {
  if (!PrimitiveValueListNode.is(list) && !ValueListNode.is(list)) return undefined;
  if (list.values.length > 0 || !OperatorNode.is(operator)) return undefined;
  if (operator.operator === 'in') return '1 = 0';
  return operator.operator === 'not in' ? '1 = 1' : undefined;
}
