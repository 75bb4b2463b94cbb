// What the blocks of docs/guide/secrets.md use.
let password = "secret"
