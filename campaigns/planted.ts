import { registerHooks } from 'node:module';

// `node --import planted.ts src/main.ts` runs the service on a store with a planted fault (faulty-store.ts).

registerHooks({
  resolve(specifier, context, next) {
    const resolved = next(specifier, context);
    const isForApp =
      context.parentURL?.endsWith('/src/app.ts') && resolved.url.endsWith('/src/store/load-engine.ts');
    return isForApp ? { ...resolved, url: new URL('faulty-store.ts', import.meta.url).href } : resolved;
  },
});
