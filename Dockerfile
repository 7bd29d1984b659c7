# The service and its web console: docs/deploying.md.
ARG NODE=26.12.1-trixie-slim

FROM node:${NODE} AS console
WORKDIR /app
COPY package.json package-lock.json tsconfig.json ./
COPY console/package.json ./console/
RUN npm ci --workspace=console --no-audit --no-fund
COPY src ./src
COPY console ./console
RUN npm run --workspace=console build

FROM node:${NODE} AS service
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --workspaces=false --omit=dev --omit=optional --no-audit --no-fund
COPY LICENSE ./
COPY bin ./bin
COPY src ./src
COPY --from=console /app/console/dist ./console/dist
# Fills the compile cache, which has a folder for each user.
RUN install -d -o node node_modules/.cache
USER node
RUN SECRET_TOKEN=only-for-this-build-step-not-a-secret AUTH_PASSWORD=none DB_URL=sqlite:/tmp/books.db PORT=0 \
      timeout --preserve-status 10 node bin/bookkeeping.mjs \
    && chmod -R a+rX node_modules/.cache

FROM node:${NODE}
LABEL org.opencontainers.image.title="bookkeeping" \
      org.opencontainers.image.description="Keeps book records behind a signed token, on SQLite or PostgreSQL" \
      org.opencontainers.image.licenses="MIT"
RUN install -d -o node -g node /data
WORKDIR /app
COPY --from=service /app ./
# The search index of SQLite is a temporary file, which can be as large as the database.
ENV NODE_ENV=production DB_URL=sqlite:/data/books.db SQLITE_TMPDIR=/data
USER node
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + (process.env.PORT || 8080) + '/healthz').then(({ ok }) => process.exit(ok ? 0 : 1))"]
ENTRYPOINT ["node", "--max-semi-space-size=16", "bin/bookkeeping.mjs"]
