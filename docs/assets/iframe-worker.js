/* Browsers start no worker for a page of the file system: there the script of a worker runs in an iframe. */
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      this.onmessage = null
      this.queue = []
      const frame = document.createElement("iframe")
      frame.hidden = true
      document.body.appendChild(frame)
      this.inside = frame.contentWindow
      this.inside.document.open()
      this.inside.document.write("<!doctype html><html><body></body></html>")
      this.inside.document.close()
      this.inside.postMessage = data => this.deliver(this, data)
      this.inside.importScripts = (...urls) =>
        urls.reduce((done, next) => done.then(() => this.load(next)), Promise.resolve())
      this.load(url).then(() => {
        const queue = this.queue
        this.queue = null
        queue.forEach(data => this.deliver(this.inside, data))
      })
    }

    load(url) {
      return new Promise((resolve, reject) => {
        const script = this.inside.document.createElement("script")
        script.src = String(url)
        script.onload = resolve
        script.onerror = reject
        this.inside.document.body.appendChild(script)
      })
    }

    deliver(target, data) {
      const event = new MessageEvent("message", { data })
      target.dispatchEvent(event)
      if (typeof target.onmessage === "function") target.onmessage(event)
    }

    postMessage(data) {
      if (this.queue) this.queue.push(data)
      else this.deliver(this.inside, data)
    }

    terminate() {}
  }
}
