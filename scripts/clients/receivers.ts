import { readFileSync } from 'node:fs';

/*
 * Writes the receivers that the dashboard shows: complete programs in one file each. Those in Node and Python are files
 * of `docs/receiving.md`. Those in Go and PHP are made of the verifiers of `clients/` and the receivers beside them.
 */

export function receiverFiles(): Record<string, string> {
  const page = read('docs/receiving.md');
  const sources = {
    nodeReceiver: fileOf(page, 'receiver.mjs'),
    pythonReceiver: fileOf(page, 'receiver.py'),
    goReceiver: goProgram(read('clients/go/webhooks.go'), read('clients/go/receiver/main.go')),
    phpReceiver: phpProgram(read('clients/php/SwitchboardWebhooks.php'), read('clients/php/receiver.php')),
  };
  return {
    'dashboard/src/pages/webhooks/receivers.ts': [
      '// Generated from docs/receiving.md, clients/go and clients/php by `npm run generate`. Do not edit.',
      ...Object.entries(sources).map(([name, code]) => `\nexport const ${name} = \`${escaped(code)}\`;`),
      '',
    ].join('\n'),
  };
}

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

const escaped = (code: string) => code.replaceAll(/[\\`]|\$\{/g, '\\$&');

/** The code block of a page that its readers save under this name. */
function fileOf(page: string, name: string): string {
  const [, after] = page.split(`<!-- file: ${name} -->\n`);
  const [, code] = /^```\w+\n(.*?)^```$/ms.exec(after ?? '') ?? [];
  if (code === undefined) throw new Error(`The page has no file ${name}`);
  return code;
}

interface GoFile {
  readonly imports: readonly string[];
  readonly body: string;
}

/** Puts the package and the program that imports it into one package. */
function goProgram(library: string, program: string): string {
  const [verifier, main] = [goFile(library), goFile(program)];
  const imports = [...new Set([...verifier.imports, ...main.imports])].filter(
    (path) => path !== '"switchboard/webhooks"',
  );
  const [about = ''] = program.split('\n', 1);
  const body = main.body.replaceAll(/\bwebhooks\.(?=[A-Z])/g, '');
  return `${about}\npackage main\n\nimport (\n${imports
    .sort()
    .map((path) => `\t${path}\n`)
    .join('')})\n${body}${verifier.body}`;
}

function goFile(source: string): GoFile {
  const [whole, imports = ''] = /^import \(\n(.*?)^\)\n/ms.exec(source) ?? [];
  if (whole === undefined) throw new Error('A Go file has no imports');
  return {
    imports: imports
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== ''),
    body: source.slice(source.indexOf(whole) + whole.length),
  };
}

/** Replaces the line that includes the class by the class. */
function phpProgram(library: string, program: string): string {
  const head = '<?php\n\ndeclare(strict_types=1);\n\n';
  const include = "require __DIR__ . '/SwitchboardWebhooks.php';\n\n";
  if (!library.startsWith(head) || !program.includes(include)) throw new Error('The PHP receiver has another shape');
  return `${program.replace(include, '')}\n${library.slice(head.length)}`;
}
