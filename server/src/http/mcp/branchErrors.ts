import { type FieldError, type Problem, textOfFields } from '../../errors.ts';
import type { Operation } from '../../invoke/operation.ts';
import type { Branch } from './branchTable.ts';
import { selectorOf, type ToolBranches } from './toolBranches.ts';

const alternatives = new Intl.ListFormat('en-GB', { type: 'disjunction' }); // without a comma before "or"

/*
 * An operation reports errors under the names of its own fields. A model knows only the tool, and has to correct its
 * call from the text alone.
 */

interface Terms {
  readonly branches: ToolBranches;
  /** The branch that the call took; undefined for the tool's own operation. */
  readonly branch: Branch | undefined;
  /** The fields of the tool that the caller sees. */
  readonly fields: readonly string[];
  readonly isPermitted: (operation: Operation) => boolean;
}

/** Returns the error of an operation in the terms of its tool. */
export function inToolTerms(problem: Problem, terms: Terms): Problem {
  const { errors = [], detail } = problem;
  const shown = errors.map((error) => inTerms(error, terms));
  const isListed = detail === textOfFields(errors);
  return {
    ...problem,
    detail: isListed ? textOfFields(shown) : renamed(detail, terms),
    ...(shown.length > 0 && { errors: shown }),
  };
}

function inTerms({ field, code, message }: FieldError, terms: Terms): FieldError {
  return { field: toolField(field, terms), code, message: explained({ field, code, message }, terms) };
}

function toolField(field: string, { branch }: Terms): string {
  const [head = '', ...deeper] = field.split('.');
  const name = branch?.names?.[head];
  if (name === undefined) return field;
  // Inside another object, the positions differ.
  return name.includes('.') ? name : [name, ...deeper].join('.');
}

function explained({ field, code, message }: FieldError, terms: Terms): string {
  const { branch, branches, fields, isPermitted } = terms;
  if (code === 'unknown' && !field.includes('.')) {
    if (branch !== undefined && fields.includes(field))
      return `cannot be combined with ${labelOf(branch)}; make another call for it`;
    const values = branches.valuesOf(field);
    if (branch === undefined && values.length > 0) return `must be ${values.join(' or ')}`;
    return `is not an argument of this tool, which takes ${fields.join(', ')}`;
  }
  const selectors = branches.selectors(isPermitted);
  if (code === 'required' && branch === undefined && branches.replaced.includes(field) && selectors.length > 0)
    return `is required unless the call has ${alternatives.format(selectors.map((name) => `\`${name}\``))}`;
  return renamed(message, terms);
}

const labelOf = (branch: Branch) =>
  branch.value === undefined ? `\`${selectorOf(branch)}\`` : `\`${selectorOf(branch)}: ${branch.value}\``;

/** Replaces the operation's names in a text. */
function renamed(text: string, { branch }: Terms): string {
  return Object.entries(branch?.names ?? {}).reduce(
    (changed, [from, to]) => changed.replaceAll(`\`${from}\``, `\`${to}\``),
    text,
  );
}
