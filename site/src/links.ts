import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path/posix';
import { addressOf, BASE, ROOT } from './paths.ts';

/** The target of a link: an address, or a file of the repository that is not part of the site. */
export type Target = { readonly address: string } | { readonly file: string };

/**
 * Resolves the link of a page of `docs/` as GitHub does.
 * @param from path of the page in the repository, such as `docs/webhooks.md`
 */
export function resolveLink(href: string, from: string): Target {
  if (/^[a-z][a-z+.-]*:|^#|^\//i.test(href)) return { address: href };
  const [, path = '', fragment = ''] = /^([^#]*)(#.*)?$/.exec(href) ?? [];
  const file = normalize(join(dirname(from), decodeURI(path)));
  if (file === 'openapi.json') return { address: '/openapi.json' };
  const [, page] = /^docs\/(.+)\.md$/.exec(file) ?? [];
  if (page !== undefined && existsSync(join(ROOT, file))) return { address: addressOf(page) + fragment };
  if (/^docs\/decisions\/?$/.test(file)) return { address: addressOf('decisions/README') };
  if (file.startsWith('docs/pictures/')) return { address: BASE + file.slice('docs/'.length) };
  return { file };
}
