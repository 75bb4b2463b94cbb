function run(request) {
    request.completionFunction({text: document.body.innerText});
}

function finalize(result) {
    document.title = `${result.words} words`;
}
