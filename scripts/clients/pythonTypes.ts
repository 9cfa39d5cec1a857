import { isName } from '../../dashboard/src/pages/reference/pythonName.ts';
import type { Schema } from './api.ts';

/* Writes schemas as Python types: objects become `TypedDict` classes, which are plain dictionaries at run time. */

const WIDTH = 100;

export class PythonTypes {
  readonly #schemas: Readonly<Record<string, Schema>>;
  /** In the order of their definition: a class follows those that it refers to. */
  readonly #classes = new Map<string, string>();
  readonly #shapes = new Map<string, string>();

  constructor(schemas: Readonly<Record<string, Schema>>) {
    this.#schemas = schemas;
  }

  get names(): string[] {
    return [...this.#classes.keys()].filter((name) => !name.startsWith('_'));
  }

  get source(): string {
    return [...this.#classes.values()].join('\n\n');
  }

  /** The type of an input, where a time can be a `datetime`. */
  inputOf(schema: Schema, name: string): string {
    return this.typeOf(schema, name, { isInput: true });
  }

  /** @param name of the class, if the schema is an object without a name */
  typeOf(schema: Schema, name: string, side: Side = {}): string {
    const { $ref, anyOf, items = {}, properties = {}, patternProperties, type, enum: options } = schema;
    if ($ref !== undefined) return this.#component($ref.replace('#/components/schemas/', ''));
    if ('const' in schema) return `Literal[${literal(schema.const)}]`;
    if (options !== undefined) return `Literal[${options.map(literal).join(', ')}]`;
    if (anyOf !== undefined) return this.#union(anyOf, name, side);
    if (type === 'array') return `list[${this.typeOf(items, name.replace(/s$/, ''), side)}]`;
    if (patternProperties !== undefined) {
      const [value = {}] = Object.values(patternProperties);
      return `dict[str, ${this.typeOf(value, name, side)}]`;
    }
    if (type === 'object')
      return Object.keys(properties).length === 0 ? 'dict[str, Any]' : this.#define(name, schema, side);
    return side.isInput && schema.format === 'date-time' ? 'Union[str, datetime]' : primitive(type);
  }

  #component(name: string): string {
    const schema = this.#schemas[name];
    if (schema === undefined) throw new Error(`openapi.json has no schema ${name}`);
    return this.typeOf(schema, name);
  }

  #union(members: readonly Schema[], name: string, side: Side): string {
    const types = members.filter(({ type }) => type !== 'null').map((member) => this.typeOf(member, name, side));
    const union = types.length === 1 ? (types[0] ?? 'Any') : `Union[${[...new Set(types)].join(', ')}]`;
    return types.length === members.length ? union : `Optional[${union}]`;
  }

  /** Defines a class, in two parts if some fields are optional: `NotRequired` needs Python 3.11. */
  #define(name: string, { properties = {}, required = [], description }: Schema, side: Side): string {
    const shape = JSON.stringify([properties, required]);
    const known = this.#shapes.get(name);
    if (known !== undefined) {
      if (known !== shape) throw new Error(`Two different types are called ${name}`);
      return name;
    }
    this.#shapes.set(name, shape);
    const fields = Object.entries(properties).map(([field, schema]) => ({
      field,
      type: this.typeOf(schema, name + pascal(field), side),
      about: schema.description,
      isRequired: required.includes(field),
    }));
    const needed = fields.filter(({ isRequired }) => isRequired);
    const optional = fields.filter(({ isRequired }) => !isRequired);
    const base = needed.length > 0 && optional.length > 0 ? `_${name}Required` : undefined;
    if (base !== undefined) this.#classes.set(base, typedDict(base, needed, { isTotal: true }));
    const own = base === undefined ? fields : optional;
    this.#classes.set(name, typedDict(name, own, { base, isTotal: optional.length === 0, about: description }));
    return name;
  }
}

interface Side {
  readonly isInput?: boolean;
}

interface Member {
  readonly field: string;
  readonly type: string;
  readonly about: string | undefined;
}

interface Options {
  readonly base?: string | undefined;
  readonly isTotal: boolean;
  readonly about?: string | undefined;
}

function typedDict(name: string, members: readonly Member[], options: Options): string {
  if (members.every(({ field }) => isName(field))) return classOf(name, members, options);
  // Fields such as `from` cannot be members of a class. Another class can inherit from the result.
  const { base, isTotal, about } = options;
  const parent = base === undefined ? name : `_${name}Optional`;
  const fields = members
    .map(
      ({ field, type, about }) =>
        `${about === undefined ? '' : `${comment(about, '        ')}\n`}        "${field}": ${type},`,
    )
    .join('\n');
  const total = isTotal ? '' : '\n    total=False,';
  const dict = `${parent} = TypedDict(\n    "${parent}",\n    {\n${fields}\n    },${total}\n)\n`;
  if (base === undefined) return dict;
  return `${dict}\n\nclass ${name}(${base}, ${parent}):\n${docstring(about ?? sentenceOf(name), '    ')}\n`;
}

function classOf(name: string, members: readonly Member[], { base = 'TypedDict', isTotal, about }: Options): string {
  const lines = members.flatMap(({ field, type, about }) => [
    `    ${field}: ${type}`,
    ...(about === undefined ? [] : [docstring(about, '    ')]),
  ]);
  const head = about === undefined ? [] : [docstring(about, '    '), ''];
  return [`class ${name}(${base}${isTotal ? '' : ', total=False'}):`, ...head, ...lines, ''].join('\n');
}

const sentenceOf = (name: string) => `The fields of \`${name}\`.`;

export function pascal(name: string): string {
  return name.replaceAll(/(?:^|[_.\-\s])(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function primitive(type: string | undefined): string {
  switch (type) {
    case 'string':
      return 'str';
    case 'integer':
      return 'int';
    case 'number':
      return 'float';
    case 'boolean':
      return 'bool';
    case 'null':
      return 'None';
    default:
      return 'Any';
  }
}

export function literal(value: unknown): string {
  if (value === true) return 'True';
  if (value === false) return 'False';
  return value === null ? 'None' : JSON.stringify(value);
}

export function docstring(text: string, indent: string): string {
  const safe = text.replaceAll('\\', '\\\\').replaceAll('"""', "'''").trim();
  const lines = safe.split('\n').flatMap((line) => wrapped(line, WIDTH - indent.length - 6));
  if (lines.length === 1) return `${indent}"""${lines[0]?.replace(/"$/, '" ')}"""`;
  const [first = '', ...rest] = lines;
  return [`${indent}"""${first}`, ...rest.map((line) => (line === '' ? '' : indent + line)), `${indent}"""`].join('\n');
}

function comment(text: string, indent: string): string {
  return wrapped(text.replaceAll('\n', ' '), WIDTH - indent.length - 2)
    .map((line) => `${indent}# ${line}`)
    .join('\n');
}

export function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
