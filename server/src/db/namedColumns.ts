import {
  AliasNode,
  ColumnNode,
  IdentifierNode,
  type KyselyPlugin,
  type OperationNode,
  type PluginTransformQueryArgs,
  ReferenceNode,
  type ReturningNode,
  type RootOperationNode,
  SelectAllNode,
  SelectionNode,
  SelectQueryNode,
  TableNode,
} from 'kysely';
import { columns } from './columns.ts';

/** A table of a statement, under the name by which the statement refers to it. */
interface Source {
  readonly name: string;
  readonly columns: readonly string[];
}

/**
 * Replaces `*` of tables with their columns in every statement that Kysely builds: `selectAll` and `returningAll` state
 * what this release knows. A prepared statement with `*` fails in all running nodes as soon as a newer one adds a
 * column.
 *
 * Follows subqueries only where the statement returns their columns, because transforming all of a statement takes ten
 * times as long as building it.
 */
export const namedColumns: KyselyPlugin = {
  transformQuery: ({ node }: PluginTransformQueryArgs) => nameColumns(node),
  transformResult: async ({ result }) => result,
};

function nameColumns(node: RootOperationNode): RootOperationNode {
  switch (node.kind) {
    case 'SelectQueryNode':
      return nameSelected(node);
    case 'InsertQueryNode':
      return node.returning === undefined ? node : { ...node, ...returned(node.returning, node.into) };
    case 'UpdateQueryNode':
      return node.returning === undefined ? node : { ...node, ...returned(node.returning, node.table) };
    case 'DeleteQueryNode':
      return node.returning === undefined ? node : { ...node, ...returned(node.returning, node.from.froms[0]) };
    default:
      return node;
  }
}

function nameSelected(node: SelectQueryNode): SelectQueryNode {
  const { from, joins, selections, setOperations } = node;
  const froms = from?.froms.map(nameSource);
  const tables = [...(froms ?? []), ...(joins ?? []).map(({ table }) => table)];
  return {
    ...node,
    ...(from && froms && { from: { ...from, froms } }),
    ...(selections && { selections: expand(selections, tables) }),
    ...(setOperations && {
      setOperations: setOperations.map((one) => ({ ...one, expression: nameSource(one.expression) })),
    }),
  };
}

/** Names the columns of a subquery. */
function nameSource(node: OperationNode): OperationNode {
  if (SelectQueryNode.is(node)) return nameSelected(node);
  if (!AliasNode.is(node) || !SelectQueryNode.is(node.node)) return node;
  return AliasNode.create(nameSelected(node.node), node.alias);
}

function returned(node: ReturningNode, table: OperationNode | undefined): { returning: ReturningNode } {
  return { returning: table === undefined ? node : { ...node, selections: expand(node.selections, [table]) } };
}

/** The columns of a subquery are fixed, because the subquery names them. */
function expand(selections: readonly SelectionNode[], tables: readonly OperationNode[]): readonly SelectionNode[] {
  if (!selections.some(({ selection }) => isAll(selection))) return selections;
  const sources = tables.map(sourceOf);
  return selections.flatMap((one) => {
    const { selection } = one;
    if (SelectAllNode.is(selection)) {
      if (!sources.every((source) => source !== undefined)) return one;
      return sources.flatMap((source) => listOf(source, sources.length > 1));
    }
    if (!ReferenceNode.is(selection) || !SelectAllNode.is(selection.column)) return one;
    const name = selection.table?.table.identifier.name;
    const source = sources.find((other) => other?.name === name);
    return source === undefined ? one : listOf(source, true);
  });
}

/** The nodes of the columns of a table, by its name in a statement. */
const lists = new Map<string, readonly SelectionNode[]>();

function listOf({ name, columns: names }: Source, isQualified: boolean): readonly SelectionNode[] {
  const key = `${name} ${isQualified} ${names.join()}`;
  let list = lists.get(key);
  if (list === undefined) {
    const table = TableNode.create(name);
    const nodeOf = (column: string) =>
      isQualified ? ReferenceNode.create(ColumnNode.create(column), table) : ColumnNode.create(column);
    list = names.map((column) => SelectionNode.create(nodeOf(column)));
    lists.set(key, list);
  }
  return list;
}

/** Returns undefined for a subquery, and for a table that is not ours. */
function sourceOf(node: OperationNode): Source | undefined {
  const table = AliasNode.is(node) ? node.node : node;
  if (!TableNode.is(table)) return undefined;
  const { name } = table.table.identifier;
  if (!isTable(name)) return undefined;
  const alias = AliasNode.is(node) && IdentifierNode.is(node.alias) ? node.alias.name : name;
  return { name: alias, columns: columns[name] };
}

const isAll = (node: OperationNode) =>
  SelectAllNode.is(node) || (ReferenceNode.is(node) && SelectAllNode.is(node.column));

const isTable = (name: string): name is keyof typeof columns => Object.hasOwn(columns, name);
