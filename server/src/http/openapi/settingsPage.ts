import { settingSections, settingsTable, variableOf } from '../../config.ts';

const head = `# Settings

<!-- keywords: environment variables, configuration, config, env, options, change port, cors, cross-origin, origin -->

<!-- Generated from the table of settings by \`npm run openapi\`. Do not edit. -->

Settings are environment variables, and an empty one counts as not set. None is required:

<!-- not run: the server does not end -->
\`\`\`sh
PORT=8081 LOG_LEVEL=warn npm start
\`\`\`

There are no default secrets. On the first start, the server generates the secrets that you have not set, and stores them in \`DATA_DIR\` or in PostgreSQL. If a value is invalid, the server names every problem and does not start. \`npm start -- --help\` prints this list.

All nodes of a deployment need the same settings, except for \`HOST\`, \`PORT\`, \`DATA_DIR\`, \`NODE_URL\` and \`NODE_ROLE\` ([scaling](scaling.md)). [Security](security.md) explains the secrets and the limits.
`;

/** Writes `docs/settings.md`: every setting with its values and its default, by subject. */
export function settingsPage(): string {
  const sections = Object.entries(settingSections).map(([title, names]) => {
    const rows = names.map((name) => {
      const { doc, type, default: byDefault } = settingsTable[name];
      return `| \`${variableOf(name)}\` | ${inCell(doc)} | ${inCell(type)} | ${byDefault ? `\`${byDefault}\`` : ''} |`;
    });
    return [`## ${title}`, '', '| variable | meaning | value | default |', '|---|---|---|---|', ...rows, ''].join('\n');
  });
  return [head, ...sections].join('\n');
}

const inCell = (text: string) => text.replaceAll('|', '\\|').replaceAll('*', '\\*');
