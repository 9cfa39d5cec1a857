/** A page of `docs/` by its path without the ending, and its name in the navigation. */
export type Entry = readonly [path: string, title: string];

interface Group {
  readonly title: string;
  readonly pages: readonly Entry[];
}

/** All pages in the order in which a reader needs them. Each page of `docs/` belongs to one group. */
export const groups: readonly Group[] = [
  {
    title: 'Start',
    pages: [
      ['getting-started', 'Getting started'],
      ['sending', 'Sending messages'],
      ['receiving', 'Receiving events'],
      ['events', 'Events'],
      ['webhooks', 'Webhooks'],
      ['destinations', 'Message brokers'],
    ],
  },
  {
    title: 'Networks',
    pages: [
      ['whatsapp', 'WhatsApp'],
      ['whatsapp-cloud', 'WhatsApp Cloud API'],
      ['connectors', 'Connectors'],
      ['media', 'Media'],
    ],
  },
  {
    title: 'Clients',
    pages: [
      ['sdk', 'TypeScript SDK'],
      ['python', 'Python'],
      ['php', 'PHP verifier'],
      ['go', 'Go verifier'],
      ['cli', 'Command line'],
      ['n8n', 'n8n'],
      ['mcp', 'MCP'],
      ['mcp-events', 'MCP events'],
      ['mcp-reference', 'MCP reference'],
      ['oauth', 'OAuth'],
      ['chatwoot', 'Chatwoot'],
      ['dashboard', 'Dashboard'],
    ],
  },
  {
    title: 'Run',
    pages: [
      ['settings', 'Settings'],
      ['operations', 'Operations'],
      ['deploy', 'Deploy'],
      ['upgrade', 'Upgrade'],
      ['backup', 'Back up and restore'],
      ['monitoring', 'Monitor'],
      ['scaling', 'Scaling'],
      ['limits', 'Limits'],
      ['security', 'Security'],
      ['troubleshooting', 'Troubleshooting'],
      ['performance', 'Performance'],
    ],
  },
  {
    title: 'Move',
    pages: [
      ['migrating-from-waha', 'From WAHA'],
      ['migrating-from-openwa', 'From OpenWA'],
      ['migrating-from-evolution-api', 'From Evolution API'],
    ],
  },
  {
    title: 'More',
    pages: [
      ['architecture', 'Architecture'],
      ['glossary', 'Glossary'],
      ['map-of-the-code', 'Map of the code'],
      ['maintaining', 'Maintaining'],
      ['decisions/README', 'Decisions'],
    ],
  },
];

/** The groups with the pages that exist. */
export function groupsOf(existing: ReadonlySet<string>): readonly Group[] {
  return groups
    .map(({ title, pages }) => ({ title, pages: pages.filter(([path]) => existing.has(path)) }))
    .filter(({ pages }) => pages.length > 0);
}
