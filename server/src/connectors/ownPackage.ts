import { registerHooks } from 'node:module';

/**
 * Resolves `@switchboard/server/…` to this server, wherever the module that imports it is: the file of a connector may
 * be in any folder, and an `AppError` of another copy would be none of ours. Import it for this effect; a process has
 * one such hook, because it evaluates a module once.
 */
registerHooks({
  resolve: (specifier, context, next) =>
    specifier.startsWith('@switchboard/server/')
      ? next(specifier, { ...context, parentURL: import.meta.url })
      : next(specifier, context),
});
