import { registerHooks } from 'node:module';

const extension = import.meta.url.slice(import.meta.url.lastIndexOf('.')); // `.ts`, or `.js` in the package
const own: Readonly<Record<string, string>> = {
  connector: new URL(`./connector${extension}`, import.meta.url).href,
  errors: new URL(`../errors${extension}`, import.meta.url).href,
};

/**
 * Resolves `switchboard/connector` and `switchboard/errors`, and both below the earlier name `@switchboard/server`, to
 * this server, wherever the importing module is: the file of a connector may be in any folder, and an `AppError` of
 * another copy would not be recognized. Import this module for its side effect; modules are evaluated once, so a process
 * has one such hook.
 */
registerHooks({
  resolve: (specifier, context, next) => {
    const [, name = ''] = /^(?:@switchboard\/server|switchboard)\/(\w+)$/.exec(specifier) ?? [];
    const url = Object.hasOwn(own, name) ? own[name] : undefined;
    return url === undefined ? next(specifier, context) : { url, shortCircuit: true };
  },
});
